-- Releases an idempotency key after a failed request, unless another request has claimed it since.
-- KEYS: mark of the key, input. ARGV: mark of the running request, 1 after a refusal, which has no further use for the
-- input.
local present = redis.call('GET', KEYS[1])
if present and present ~= ARGV[1] then return end
redis.call('DEL', KEYS[1])
if ARGV[2] == '1' then redis.call('DEL', KEYS[2]) end
