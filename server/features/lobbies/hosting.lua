-- Takes one of a player's places for hosted lobbies, unless all are taken by others; taking it again is harmless.
-- KEYS: hosted. ARGV: code, now ms, places, seconds to keep the key.
-- Returns 1 when the place is taken.
if not redis.call('ZSCORE', KEYS[1], ARGV[1])
  and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
