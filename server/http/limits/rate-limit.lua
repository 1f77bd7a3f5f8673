-- Counts one request in a fixed window that the first request opens (GW-11).
-- KEYS[1] counter, ARGV[1] window in ms. Returns { requests so far, ms until the window ends }.
local count = redis.call("INCR", KEYS[1])
local left = redis.call("PTTL", KEYS[1])
-- A counter without a TTL would block its caller permanently.
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call("PEXPIRE", KEYS[1], left)
end
return { count, left }
