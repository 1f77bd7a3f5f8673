-- Commits the changes of many lobbies of one tick, each fenced by its shard's owner record.
-- KEYS: per lobby owner, lobby, stream, due.
-- ARGV: per lobby one text whose parts each end with \31: token, expected version, new version, commit id, code, channel,
--       ttl ms or '', due ms or '' (keep) or '-' (none), last seq, numbers of set fields, deleted fields and events,
--       (field, value)..., deleted fields..., payloads...
-- Returns one letter per lobby: 'c' committed, 'a' already committed by this very commit, 'f' fenced, 'v' version conflict.
-- A lobby is checked fully before its first write, because a script has no rollback.
local results, owners = {}, {}

local function split(text)
  local parts, count, from = {}, 0, 1
  local stop = string.find(text, '\31', from, true)
  while stop do
    count = count + 1
    parts[count] = string.sub(text, from, stop - 1)
    from = stop + 1
    stop = string.find(text, '\31', from, true)
  end
  return parts, count
end

for i = 0, #KEYS / 4 - 1 do
  local own, lobby, stream, due = KEYS[i * 4 + 1], KEYS[i * 4 + 2], KEYS[i * 4 + 3], KEYS[i * 4 + 4]
  local parts, count = split(ARGV[i + 1])
  local token, expected, version, id, code, channel, ttl, dueAt, seq = unpack(parts, 1, 9)
  local fieldsEnd = 12 + parts[10] * 2
  local deletedEnd = fieldsEnd + parts[11]

  local owner = owners[own]
  if owner == nil then
    owner = redis.call('GET', own) or ''
    owners[own] = owner
  end
  local stored = redis.call('HMGET', lobby, 'v', 'c')
  if owner ~= token then
    results[i + 1] = 'f'
  elseif stored[1] == version and stored[2] == id then
    results[i + 1] = 'a'
  elseif (stored[1] or '0') ~= expected then
    results[i + 1] = 'v'
  else
    if deletedEnd > fieldsEnd then redis.call('HDEL', lobby, unpack(parts, fieldsEnd + 1, deletedEnd)) end
    redis.call('HSET', lobby, 'v', version, 'c', id, unpack(parts, 13, fieldsEnd))
    local first = tonumber(seq) - (count - deletedEnd)
    for n = 1, count - deletedEnd do
      local payload = parts[deletedEnd + n]
      redis.call('XADD', stream, 'MAXLEN', '~', '256', (first + n) .. '-0', 'd', payload)
      redis.call('PUBLISH', channel, (first + n) .. '\n' .. payload)
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
    results[i + 1] = 'c'
  end
end
return table.concat(results)
