-- Reads a page, the ranks of some entries, and the neighbours of the first of them.
-- KEYS: open, batch, hash id -> ties, sorted set of the tab.
-- ARGV: family, now ms, tab (from 1), "1" for unique ranks, first and last index of the page (-1 and -2 =
-- none), radius of the neighbours (-1 = none), ids.
-- Returns false if the leaderboard is not open, else batch, number of entries, rank of the first member of
-- the page, the page, [rank, value, member] or false for each id, index of the first neighbour, the
-- neighbours.
local opened = redis.call('HGET', KEYS[1], ARGV[1])
if not opened then return false end
local now = tonumber(ARGV[2])
-- Updated at most once a minute, so that most reads do not write.
if math.abs(now - tonumber(opened)) > 60000 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
local set, isUnique = KEYS[4], ARGV[4] == '1'

local function rankOf(member, score)
  if isUnique then return redis.call('ZRANK', set, member) + 1 end
  return redis.call('ZCOUNT', set, '-inf', '(' .. score) + 1
end

local page, firstRank = {}, 0
if tonumber(ARGV[5]) >= 0 then
  page = redis.call('ZRANGE', set, ARGV[5], ARGV[6], 'WITHSCORES')
  if page[1] then firstRank = rankOf(page[1], page[2]) end
end

local places, around, aroundIndex = {}, {}, -1
for at = 8, #ARGV do
  local ties = redis.call('HGET', KEYS[3], ARGV[at])
  local place = false
  if ties then
    local tab = 0
    for tie in string.gmatch(ties, '[^,]+') do
      tab = tab + 1
      if tab == tonumber(ARGV[3]) then
        local member = tie .. ARGV[at]
        local score = redis.call('ZSCORE', set, member)
        if score then
          place = { rankOf(member, score), score, member }
          if at == 8 and tonumber(ARGV[7]) >= 0 then
            local index = redis.call('ZRANK', set, member)
            aroundIndex = math.max(0, index - tonumber(ARGV[7]))
            around = redis.call('ZRANGE', set, aroundIndex, index + tonumber(ARGV[7]), 'WITHSCORES')
          end
        end
      end
    end
  end
  places[#places + 1] = place
end
return {
  redis.call('GET', KEYS[2]) or '-1', redis.call('ZCARD', set), firstRank, page, places, aroundIndex, around
}
