-- Use of a refresh token of a grant (OA-08). The present generation leads to the next one; the one before is allowed
-- for a grace, so that a second tab or a lost answer costs nothing. By the clock of Redis, since those of hosts differ.
-- KEYS: generation of the grant. ARGV: generation of the token, offset of the service's clock ms, grace ms, seconds to
-- keep the key.
-- Returns 1 if the use is allowed.
local used = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
local present, since = string.match(redis.call('GET', KEYS[1]) or '0 0', '(%d+) (%d+)')
if used >= tonumber(present) then
  redis.call('SET', KEYS[1], string.format('%d %d', used + 1, now), 'EX', ARGV[4])
  return 1
end
if used == tonumber(present) - 1 and now - tonumber(since) < tonumber(ARGV[3]) then return 1 end
return 0
