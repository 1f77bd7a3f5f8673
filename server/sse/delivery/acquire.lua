-- Acquires one slot for a worker under every key, or under none.
-- KEYS: workers, then counts by worker. ARGV: worker, lease ms, TTL of the counts in ms,
-- then for each key its quota and the worker's count including this slot.
-- Returns 1 when acquired, 0 when a quota is exhausted, -1 when the worker's lease has expired.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = now - ARGV[2]
local own = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not own or tonumber(own) < oldest then return -1 end
for i = 2, #KEYS do
  local sum = tonumber(ARGV[2 * i + 1])
  local counts = redis.call('HGETALL', KEYS[i])
  for n = 1, #counts, 2 do
    if counts[n] ~= ARGV[1] then
      local seen = redis.call('ZSCORE', KEYS[1], counts[n])
      if seen and tonumber(seen) >= oldest then
        sum = sum + tonumber(counts[n + 1])
      else
        redis.call('HDEL', KEYS[i], counts[n])
      end
    end
  end
  if sum > tonumber(ARGV[2 * i]) then return 0 end
end
for i = 2, #KEYS do
  redis.call('HSET', KEYS[i], ARGV[1], ARGV[2 * i + 1])
  redis.call('PEXPIRE', KEYS[i], ARGV[3])
end
return 1
