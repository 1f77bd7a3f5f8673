-- Adds the next entries to a leaderboard under construction, except those `apply.lua` has written since it
-- began.
-- KEYS: batch, open, building, hash id -> ties, one sorted set per tab.
-- ARGV: name, id up to which it is filled, the id after this call or "" if it is then complete, now ms,
-- number of tabs, and for each entry: id, and value and tie for each tab.
-- Returns 1, or 0 if the leaderboard is not filled up to that id.
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
local text = redis.call('GET', KEYS[1]) or ''
-- Without a '+' the previous release wrote last. It skips leaderboards under construction, so they start
-- over.
if not string.find(text, '+', 1, true) then
  redis.call('DEL', KEYS[3])
  return 0
end
local tabs = tonumber(ARGV[5])
for at = 6, #ARGV, 1 + 2 * tabs do
  local id, ties = ARGV[at], {}
  for tab = 1, tabs do ties[tab] = ARGV[at + 2 * tab] end
  if redis.call('HSETNX', KEYS[4], id, table.concat(ties, ',')) == 1 then
    for tab = 1, tabs do
      redis.call('ZADD', KEYS[4 + tab], '-' .. ARGV[at + 2 * tab - 1], ties[tab] .. id)
    end
  end
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
else
  redis.call('HDEL', KEYS[3], ARGV[1])
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
  -- A process of that release must reread the batch before it writes again.
  redis.call('SET', KEYS[1], (string.gsub(text, '%+', '++', 1)))
end
return 1
