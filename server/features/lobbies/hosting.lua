-- Reserves one of a player's slots for hosted lobbies, unless all are in use by other lobbies. Idempotent.
-- KEYS: hosted. ARGV: code, now ms, number of slots, seconds to keep the key.
-- Returns 1 if the slot is reserved.
if not redis.call('ZSCORE', KEYS[1], ARGV[1])
  and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
