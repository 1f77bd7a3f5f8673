-- Reads the live instances of the fleet, by the clock of Redis. Read-only.
-- KEYS: leases, entries. Returns {id, its entry as JSON, ...}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
  local entry = redis.call('HGET', KEYS[2], id)
  if entry then
    table.insert(found, id)
    table.insert(found, entry)
  end
end
return found
