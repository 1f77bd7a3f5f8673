-- Releases a shard. KEYS: owner. ARGV: token. Returns 1 if the caller still owned it.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], '')
return 1
