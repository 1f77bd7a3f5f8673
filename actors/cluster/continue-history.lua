-- Records that Redis still has every write made under an earlier replication id.
-- KEYS: histories of shards. ARGV: the earlier replication id.
-- Returns the current replication id.
local present = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
for _, key in ipairs(KEYS) do
  local noted, generation = string.match(redis.call('GET', key) or '', '^(%w*) (%d+)$')
  if noted == ARGV[1] then redis.call('SET', key, present .. ' ' .. generation) end
end
return present
