-- Acquires or renews an upload slot of an account or an address, over all workers.
-- KEYS[1] sorted set of uploads by the end of their lease in ms. ARGV[1] upload, ARGV[2] lease in ms, ARGV[3] quota.
-- Returns 1 when the slot is held, else 0.
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
local isKnown = redis.call("ZSCORE", KEYS[1], ARGV[1])
if not isKnown and redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call("ZADD", KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call("PEXPIRE", KEYS[1], tonumber(ARGV[2]))
return 1
