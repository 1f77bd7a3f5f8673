-- Starts building a leaderboard that does not exist. KEYS: batch, open, building, hash id -> ties, one
-- sorted set per tab. ARGV: name, random text. The batch keeps its number but gets a new random text, so
-- that a concurrent writer with the old batch fails and then sees the new leaderboard.
local found = redis.call('GET', KEYS[1]) or ''
-- See `fill.lua`.
if not string.find(found, '+', 1, true) then redis.call('DEL', KEYS[3]) end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return end
if redis.call('HSETNX', KEYS[3], ARGV[1], '-1') == 0 then return end
redis.call('UNLINK', unpack(KEYS, 4))
local isPartial = string.sub(found, -1) == '~'
redis.call('SET', KEYS[1], (string.match(found, '^%d+') or '-1') .. ':' .. ARGV[2] .. (isPartial and '+~' or '+'))
