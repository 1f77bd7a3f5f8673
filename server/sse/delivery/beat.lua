-- Reports a worker alive by the store's own clock and forgets the silent.
-- KEYS: workers. ARGV: worker, lease ms. Returns 1 when the worker was still counted alive, else 0.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
return known and 1 or 0
