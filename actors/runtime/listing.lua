-- Writes one lobby's entry of the public list unless a newer one is there.
-- KEYS: list, order. ARGV: code, seq, created ms, entry or '' (not listed).
-- Returns 1 when the list changed.
local old = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[4] == '' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return redis.call('HDEL', KEYS[1], ARGV[1])
end
if old and tonumber(string.match(old, '^%d+')) > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '\n' .. ARGV[4])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
