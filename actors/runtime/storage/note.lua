-- Notes that a shard is whole under the history of writes which the store continues now, if all of it is as its owner has it.
-- KEYS: owner, history, lobbies... ARGV: token, 1 when the owner still has to look at others, stamps of those lobbies...
-- Returns the numbers of the lobbies that are not so.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {} end
local others = {}
for i = 3, #KEYS do
  if (redis.call('HGET', KEYS[i], 'v') or '') ~= ARGV[i] then table.insert(others, i - 3) end
end
if #others == 0 and ARGV[2] ~= '1' then
  local present = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
  local generation = string.match(redis.call('GET', KEYS[2]) or '', ' (%d+)$') or '0'
  redis.call('SET', KEYS[2], present .. ' ' .. generation)
end
return others
