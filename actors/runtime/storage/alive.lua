-- Tells who of some workers is alive by the store's own clock; nobody's liveness changes by asking.
-- KEYS: workers. ARGV: ms after which a silent worker is dead, workers...
-- Returns the living among them.
local time = redis.call('TIME')
local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]
local living = {}
for i = 2, #ARGV do
  local seen = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if seen and tonumber(seen) > oldest then table.insert(living, ARGV[i]) end
end
return living
