-- Reads one lobby, and of which history the store is.
-- KEYS: lobby. Returns {history, or '' when the store does not tell; field, value, ...}.
local info = redis.pcall('INFO', 'replication')
local history = type(info) == 'string' and string.match(info, 'master_replid:(%w+)') or ''
local reply = redis.call('HGETALL', KEYS[1])
table.insert(reply, 1, history)
return reply
