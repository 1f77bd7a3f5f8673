-- Stores the response of an idempotency key, which makes the input of the request superfluous.
-- KEYS: mark of the key, input. ARGV: mark with the response, ms for which it is kept.
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
