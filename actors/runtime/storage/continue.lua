-- Notes that the store has everything it had under an earlier history of writes.
-- KEYS: histories of shards. ARGV: the earlier one.
-- Returns the present one.
local present = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
for _, key in ipairs(KEYS) do
  local noted, generation = string.match(redis.call('GET', key) or '', '^(%w*) (%d+)$')
  if noted == ARGV[1] then redis.call('SET', key, present .. ' ' .. generation) end
end
return present
