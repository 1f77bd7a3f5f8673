-- Writes or removes leaderboard entries and advances the batch, unless another process has written since.
-- KEYS: batch, open, building, then for each leaderboard: hash id -> ties, one sorted set per tab.
-- ARGV: expected batch, new batch, then for each leaderboard: its name, number of tabs, number of entries,
-- and each entry: id, "1" and value and tie for each tab, or id, "0" to remove it.
-- Returns 1 if written, else 0.
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return 0 end
-- See `fill.lua`.
if not string.find(found, '+', 1, true) then redis.call('DEL', KEYS[3]) end

local function put(hash, first, tabs, at, isBuilding)
  local id, isThere = ARGV[at], ARGV[at + 1] == '1'
  local old, ties = {}, {}
  for tie in string.gmatch(redis.call('HGET', hash, id) or '', '[^,]+') do old[#old + 1] = tie end
  for tab = 1, tabs do
    local set = KEYS[first + tab]
    local value, tie = nil, nil
    if isThere then value, tie = ARGV[at + 2 * tab], ARGV[at + 2 * tab + 1] end
    if old[tab] and old[tab] ~= tie then redis.call('ZREM', set, old[tab] .. id) end
    if isThere then
      redis.call('ZADD', set, '-' .. value, tie .. id)
      ties[tab] = tie
    end
  end
  -- An empty text keeps the builder from inserting a removed entry that it had read before.
  if isThere or isBuilding then
    redis.call('HSET', hash, id, table.concat(ties, ','))
  else
    redis.call('HDEL', hash, id)
  end
end

local at, first = 3, 4
while at <= #ARGV do
  local name, tabs, entries = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local isBuilding = redis.call('HEXISTS', KEYS[3], name) == 1
  local isHere = isBuilding or redis.call('HEXISTS', KEYS[2], name) == 1
  at = at + 3
  for _ = 1, entries do
    if isHere then put(KEYS[first], first, tabs, at, isBuilding) end
    at = at + (ARGV[at + 1] == '1' and 2 + 2 * tabs or 2)
  end
  first = first + 1 + tabs
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
