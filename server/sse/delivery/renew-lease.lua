-- Renews the lease of a worker by the clock of Redis and removes expired workers.
-- KEYS: workers. ARGV: worker, lease ms. Returns 1 when the lease had not expired, else 0.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
return known and 1 or 0
