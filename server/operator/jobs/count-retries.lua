-- Of delayed jobs, those that had an attempt before. Of more than the maximum, that many are looked at, chosen at random.
-- KEYS[1]: delayed jobs of a queue. ARGV[1]: prefix of the keys of its jobs. ARGV[2]: maximum.
-- Returns how many had an attempt, and how many were looked at.
local ids = redis.call('ZRANDMEMBER', KEYS[1], ARGV[2])
local retrying = 0
for _, id in ipairs(ids) do
  if tonumber(redis.call('HGET', ARGV[1] .. id, 'atm') or 0) > 0 then retrying = retrying + 1 end
end
return { retrying, #ids }
