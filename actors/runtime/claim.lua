-- Takes over one shard if its owner record is still what the claimer saw and its owner is not alive: whoever is
-- alive by the store's clock may answer reads without asking, so nobody may write behind its back.
-- KEYS: owner, epoch, due, workers. ARGV: expected record, claimer, ms after which a silent worker is dead,
--       '1' when the owner is dead for certain.
-- Returns {token, code, due ms, ...} with the shard's timers, or {} when the shard is not to be had.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return {} end
local owner = string.match(ARGV[1], '^(.*)|')
local seen = owner and owner ~= ARGV[2] and ARGV[4] ~= '1' and redis.call('ZSCORE', KEYS[4], owner)
if seen then
  local time = redis.call('TIME')
  if tonumber(seen) > time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[3] then return {} end
end
local token = ARGV[2] .. '|' .. redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token)
local reply = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
table.insert(reply, 1, token)
return reply
