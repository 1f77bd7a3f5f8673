-- Commits the changes of many lobbies of one tick, each fenced by its shard's owner record.
-- KEYS: per lobby owner, lobby, stream, due.
-- ARGV: per lobby token, expected version, new version, commit id, code, channel, ttl ms or '', due ms or '' (keep) or '-' (none),
--       last seq, number of set fields, (field, value)..., number of deleted fields, fields..., number of events, payloads...
-- Returns per lobby: 1 committed, 2 already committed by this very commit, -1 fenced, -2 version conflict.
-- A lobby is checked fully before its first write, because a script has no rollback.
local results, owners, at = {}, {}, 0
local function take() at = at + 1; return ARGV[at] end
local function takeList(size)
  local list = {}
  for i = 1, size do list[i] = take() end
  return list
end

for i = 0, #KEYS / 4 - 1 do
  local own, lobby, stream, due = KEYS[i * 4 + 1], KEYS[i * 4 + 2], KEYS[i * 4 + 3], KEYS[i * 4 + 4]
  local token, expected, version, id = take(), take(), take(), take()
  local code, channel, ttl, dueAt, seq = take(), take(), take(), take(), take()
  local set = takeList(tonumber(take()) * 2)
  local deleted = takeList(tonumber(take()))
  local events = takeList(tonumber(take()))

  local owner = owners[own]
  if owner == nil then
    owner = redis.call('GET', own) or ''
    owners[own] = owner
  end
  local stored = redis.call('HMGET', lobby, 'v', 'c')
  if owner ~= token then
    results[i + 1] = -1
  elseif stored[1] == version and stored[2] == id then
    results[i + 1] = 2
  elseif (stored[1] or '0') ~= expected then
    results[i + 1] = -2
  else
    if #deleted > 0 then redis.call('HDEL', lobby, unpack(deleted)) end
    redis.call('HSET', lobby, 'v', version, 'c', id, unpack(set))
    local first = tonumber(seq) - #events
    for n = 1, #events do
      redis.call('XADD', stream, 'MAXLEN', '~', '256', (first + n) .. '-0', 'd', events[n])
      redis.call('PUBLISH', channel, (first + n) .. '\n' .. events[n])
    end
    if ttl ~= '' then
      redis.call('PEXPIRE', lobby, ttl)
      redis.call('PEXPIRE', stream, ttl)
    end
    if dueAt == '-' then
      redis.call('ZREM', due, code)
    elseif dueAt ~= '' then
      redis.call('ZADD', due, dueAt, code)
    end
    results[i + 1] = 1
  end
end
return results
