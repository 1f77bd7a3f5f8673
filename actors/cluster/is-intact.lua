-- Returns whether Redis has kept every write of a shard since it was last recorded as complete.
-- KEYS: history. Returns 1, or 0 if writes may be lost.
local present = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
local noted = string.match(redis.call('GET', KEYS[1]) or '', '^(%w*) %d+$')
return noted == present and 1 or 0
