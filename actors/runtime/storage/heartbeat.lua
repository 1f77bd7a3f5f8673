-- Reports the caller alive by the store's own clock and forgets the silent.
-- KEYS: workers, leaving, ports. ARGV: incarnation, ms after which a silent worker is dead, 1 when the caller leaves,
--       1 when it is new, its dedicated port or ''. One that is not, and is not counted any more, has to give up what it
--       holds first.
-- Returns {1 when the caller was still counted alive, else 0, {live incarnations}, {those of them that leave},
--          current replication id, {live incarnation, its port, ...}}. Workers of an earlier version have no port.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Signs of life from before the clock was set back count from now, else the dead would live until it catches up.
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
  redis.call('ZADD', KEYS[1], now, worker)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not known and ARGV[4] ~= '1' then return {0, {}, {}, '', {}} end
redis.call('ZADD', KEYS[1], now, ARGV[1])
if ARGV[3] == '1' then redis.call('ZADD', KEYS[2], now, ARGV[1]) end
for _, worker in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if not redis.call('ZSCORE', KEYS[1], worker) then redis.call('ZREM', KEYS[2], worker) end
end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[5]) end
for _, worker in ipairs(redis.call('HKEYS', KEYS[3])) do
  if not redis.call('ZSCORE', KEYS[1], worker) then redis.call('HDEL', KEYS[3], worker) end
end
local replicationId = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
local live, leaving = redis.call('ZRANGE', KEYS[1], 0, -1), redis.call('ZRANGE', KEYS[2], 0, -1)
return {known and 1 or 0, live, leaving, replicationId, redis.call('HGETALL', KEYS[3])}
