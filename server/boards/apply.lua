-- Puts entries where they belong, or takes them off the boards of one family.
-- KEYS: batch, progress of the turn, hash id -> ties, one sorted set per tab.
-- ARGV: number of this batch (0 = a board that is being built), then for each entry: id, "1" and value
-- and tie for each tab, or id, "0". Returns 0 when a later batch was here already, else 1.
local batch = tonumber(ARGV[1])
if batch > 0 and tonumber(redis.call('GET', KEYS[1]) or '0') >= batch then return 0 end
if batch > 0 then redis.call('HINCRBY', KEYS[2], ARGV[1], 1) end
local tabs = #KEYS - 3
local at = 2
while at <= #ARGV do
  local id, isThere = ARGV[at], ARGV[at + 1] == '1'
  at = at + 2
  local old = {}
  for tie in string.gmatch(redis.call('HGET', KEYS[3], id) or '', '[^,]+') do old[#old + 1] = tie end
  local ties = {}
  for tab = 1, tabs do
    local set = KEYS[tab + 3]
    local value, tie = nil, nil
    if isThere then
      value, tie = ARGV[at], ARGV[at + 1]
      at = at + 2
      ties[tab] = tie
    end
    if old[tab] and old[tab] ~= tie then redis.call('ZREM', set, old[tab] .. id) end
    if isThere then redis.call('ZADD', set, '-' .. value, tie .. id) end
  end
  if isThere then
    redis.call('HSET', KEYS[3], id, table.concat(ties, ','))
  else
    redis.call('HDEL', KEYS[3], id)
  end
end
return 1
