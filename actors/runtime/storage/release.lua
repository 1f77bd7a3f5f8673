-- Gives one shard up. KEYS: owner. ARGV: token. Returns 1 when it was still held.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], '')
return 1
