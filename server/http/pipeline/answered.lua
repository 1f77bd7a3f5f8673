-- Stores the response of an idempotency key, which makes the input of the request superfluous. A request that lost its
-- lease leaves the key to the one that claimed it since, which had the same input.
-- KEYS: mark of the key, input. ARGV: mark with the response, ms for which it is kept, mark of the running request.
local present = redis.call('GET', KEYS[1])
if present and present ~= ARGV[3] then return end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
