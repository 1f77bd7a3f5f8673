-- Commits the changes of many lobbies of one tick, each fenced by its shard's owner record.
-- KEYS: per lobby owner, lobby, stream, due; workers last, where they lie beside.
-- ARGV: incarnation, ms after which a silent worker is dead; per lobby one text whose parts each end with \31: token, stamp that is expected, new stamp, code, channel,
--       ttl ms or '', due ms or '' (keep) or '-' (none), length to cut the log to or '' (leave it),
--       numbers of deleted fields and of events, (field, value)..., deleted fields...;
--       behind it of each event its id and its message. A message is stored and published as it came, because
--       every string that is made here is hashed from end to end.
-- Returns one letter per lobby: 'c' committed, 'a' already committed by this very commit, 'f' fenced, 'v' version conflict,
--       'r' refused, because the log has the number of an event already, 's' silent: the worker counts as dead.
--       An owner record does not say that alone, when a store came back without the moment in which another took over.
-- A lobby is checked fully before its first write, because a script has no rollback; whether the log takes the first
-- event shows when it is written, so that comes first.
local call, try, find, sub = redis.call, redis.pcall, string.find, string.sub
local results, owners, at = {}, {}, 3
local lobbies = math.floor(#KEYS / 4)

if #KEYS > lobbies * 4 then
  local time = call('TIME')
  local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2]
  local seen = call('ZSCORE', KEYS[#KEYS], ARGV[1])
  if not seen or tonumber(seen) <= oldest then return string.rep('s', lobbies) end
end

local function split(text)
  local parts, count, from = {}, 0, 1
  local stop = find(text, '\31', from, true)
  while stop do
    count = count + 1
    parts[count] = sub(text, from, stop - 1)
    from = stop + 1
    stop = find(text, '\31', from, true)
  end
  return parts, count
end

for i = 0, lobbies - 1 do
  local own, lobby, stream, due = KEYS[i * 4 + 1], KEYS[i * 4 + 2], KEYS[i * 4 + 3], KEYS[i * 4 + 4]
  local parts, count = split(ARGV[at])
  local token, expected, stamp, code, channel, ttl, dueAt, limit, deleted, events = unpack(parts, 1, 10)
  local fieldsEnd = count - deleted

  local owner = owners[own]
  if owner == nil then
    owner = call('GET', own) or ''
    owners[own] = owner
  end
  local stored = call('HGET', lobby, 'v') or ''
  if owner ~= token then
    results[i + 1] = 'f'
  elseif stored == stamp then
    results[i + 1] = 'a'
  elseif stored ~= expected then
    results[i + 1] = 'v'
  elseif events ~= '0' and type(try('XADD', stream, ARGV[at + 1], 'd', ARGV[at + 2])) == 'table' then
    results[i + 1] = 'r'
  else
    if count > fieldsEnd then call('HDEL', lobby, unpack(parts, fieldsEnd + 1, count)) end
    call('HSET', lobby, 'v', stamp, unpack(parts, 11, fieldsEnd))
    if events ~= '0' then call('PUBLISH', channel, ARGV[at + 2]) end
    for n = at + 3, at + events * 2, 2 do
      call('XADD', stream, ARGV[n], 'd', ARGV[n + 1])
      call('PUBLISH', channel, ARGV[n + 1])
    end
    if limit ~= '' then call('XTRIM', stream, 'MAXLEN', '~', limit) end
    if ttl ~= '' then
      call('PEXPIRE', lobby, ttl)
      call('PEXPIRE', stream, ttl)
    end
    if dueAt == '-' then
      call('ZREM', due, code)
    elseif dueAt ~= '' then
      call('ZADD', due, dueAt, code)
    end
    results[i + 1] = 'c'
  end
  at = at + 1 + events * 2
end
return table.concat(results)
