-- Tells whether the store has had a shard without a break since it was last noted as whole.
-- KEYS: history. Returns 1, or 0 when something of it may be lost.
local present = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
local noted = string.match(redis.call('GET', KEYS[1]) or '', '^(%w*) %d+$')
return noted == present and 1 or 0
