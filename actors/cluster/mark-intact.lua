-- Records that a shard is complete under the current replication id, if each given actor has the stamp its
-- owner expects.
-- KEYS: owner, history, actors... ARGV: token, 1 if the owner has further actors to check, stamps of the
-- actors...
-- Returns the indexes of actors with another stamp.
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
