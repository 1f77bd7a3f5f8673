-- Takes over one shard if its owner record is still what the claimer saw.
-- KEYS: owner, epoch, due. ARGV: expected record, claimer.
-- Returns {token, code, due ms, ...} with the shard's timers, or {} when the shard is not to be had.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return {} end
local token = ARGV[2] .. '|' .. redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token)
local reply = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
table.insert(reply, 1, token)
return reply
