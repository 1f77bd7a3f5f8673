-- Records a heartbeat of the caller by the clock of Redis and removes dead workers.
-- KEYS: workers, leaving, ports. ARGV: node id, ms without a heartbeat after which a worker is dead, 1 if the caller is
--       leaving, 1 if it is new, its dedicated port or ''. A worker that is not new and was removed must first release
--       its shards.
-- Returns {1 if the caller was still registered, else 0, {live node ids}, {those of them that are leaving},
--          current replication id, {live node id, its port, ...}}. Workers of an earlier version have no port.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Moves heartbeats from before the clock was set back to now; otherwise dead workers would count as alive until the
-- clock catches up.
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
