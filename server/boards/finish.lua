-- Ends a turn, unless Redis lost some of it, or another one wrote meanwhile.
-- KEYS: batch, progress. ARGV: batch as it was at the start ("" = none), calls of this turn, its number.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if (redis.call('HGET', KEYS[2], ARGV[3]) or '0') ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[3])
return 1
