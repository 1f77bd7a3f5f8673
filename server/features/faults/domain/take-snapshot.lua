-- Copies the jobs of a group that have failed, with the time of their failure; the oldest failures come first.
-- KEYS[1]: jobs of the group. KEYS[2]: failed jobs of the queue. KEYS[3]: the copy. KEYS[4]: counts of the action.
-- ARGV[1]: maximum number of jobs. ARGV[2]: milliseconds until the copy expires; 0 keeps none, for a preview.
-- Returns the number copied, the number left out, and the time of the oldest failure.
local most, keptMs = tonumber(ARGV[1]), tonumber(ARGV[2])
local total = redis.call('ZINTERSTORE', KEYS[3], 2, KEYS[1], KEYS[2], 'WEIGHTS', 0, 1)
if total > most then redis.call('ZREMRANGEBYRANK', KEYS[3], most, -1) end
local oldest = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2] or ''
if keptMs == 0 then
  redis.call('UNLINK', KEYS[3])
else
  redis.call('HSET', KEYS[4], 'jobs', math.min(total, most))
  for _, key in ipairs({ KEYS[3], KEYS[4] }) do redis.call('PEXPIRE', key, keptMs) end
end
return { math.min(total, most), math.max(0, total - most), oldest }
