-- Writes the entry of one actor in the public list, or removes it, unless a newer state of the actor was written before.
-- KEYS: list, order, number at which the actor was removed. ARGV: code, seq or '' (whatever is stored), created ms,
--       entry or '' (not listed), ms for which a removal is stored, channel that announces a change or '' (none).
-- Returns 1 if the list changed, else 0.
local code, seq, created, entry, keptMs, channel = unpack(ARGV)
local known = redis.call('HGET', KEYS[1], code) or redis.call('GET', KEYS[3])
if known and seq ~= '' and tonumber(string.match(known, '^%d+')) > tonumber(seq) then return 0 end
local changed = 1
if entry == '' then
  if seq ~= '' then redis.call('SET', KEYS[3], seq, 'PX', keptMs) end
  redis.call('ZREM', KEYS[2], code)
  changed = redis.call('HDEL', KEYS[1], code)
else
  redis.call('HSET', KEYS[1], code, seq .. '\n' .. entry)
  redis.call('ZADD', KEYS[2], created, code)
end
if changed == 1 and channel ~= '' then redis.call('PUBLISH', channel, '') end
return changed
