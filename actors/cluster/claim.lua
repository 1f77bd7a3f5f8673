-- Claims a shard if its owner record is still the one the claimer read.
-- KEYS: owner, epoch, due, history, owners. ARGV: expected record, claimer, 1 if the claimer knows the last stored
-- state, cause of the change, name of the claimer's process, number of owners that are kept.
-- The history holds the replication id of the Redis under which the shard was last verified as complete, and
-- the shard's generation. A claim without that knowledge under another replication id raises the generation,
-- because Redis may have lost writes since.
-- Returns {token, generation, code, due ms, ...} with the shard's timers, or {} if the claim failed.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return {} end
local token = ARGV[2] .. '|' .. redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token)
local time = redis.call('TIME')
local ms = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('LPUSH', KEYS[5], table.concat({ms, ARGV[4], ARGV[5], token}, ' '))
redis.call('LTRIM', KEYS[5], 0, ARGV[6] - 1)
local present = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
local noted, generation = string.match(redis.call('GET', KEYS[4]) or '', '^(%w*) (%d+)$')
generation = tonumber(generation or 0)
if noted ~= present and not (noted and ARGV[3] == '1') then
  if noted then generation = generation + 1 end
  redis.call('SET', KEYS[4], present .. ' ' .. generation)
end
local reply = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
table.insert(reply, 1, tostring(generation))
table.insert(reply, 1, token)
return reply
