-- Returns which of the given workers are alive, by the clock of Redis. Read-only.
-- KEYS: workers. ARGV: ms without a heartbeat after which a worker is dead, node ids...
-- Returns the live node ids.
local time = redis.call('TIME')
local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]
local living = {}
for i = 2, #ARGV do
  local seen = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if seen and tonumber(seen) > oldest then table.insert(living, ARGV[i]) end
end
return living
