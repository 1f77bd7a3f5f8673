-- Commits the changes of several actors in one tick, each fenced by the owner record of its shard.
-- KEYS: per actor owner, state, stream, due; last workers, if it is on the same Redis node.
-- ARGV: node id, ms without a heartbeat after which a worker is dead, minimum events kept in a stream; per actor token,
--       expected stamp, new stamp, code, channel, ttl ms or '', due ms, '' (unchanged) or '-' (none), numbers of fields,
--       of deleted fields and of events, (field, value)..., deleted fields..., (event id, message)...
-- Returns one letter per actor: 'c' committed, 'a' already committed by this same commit, 'f' fenced,
--       'v' version conflict, 'r' refused because the stream already has the event id, 's' silent: the worker counts
--       as dead. The owner record alone does not show this: a Redis restored from an older state may have lost a
--       takeover.
-- A script has no rollback, so each actor is checked completely before its first write. Whether the stream accepts the
-- first event shows only when it is written, so that is the first write.
local call, try = redis.call, redis.pcall
local results, owners, at = {}, {}, 4
local kept = ARGV[3]
local actors = math.floor(#KEYS / 4)

if #KEYS > actors * 4 then
  local time = call('TIME')
  local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2]
  local seen = call('ZSCORE', KEYS[#KEYS], ARGV[1])
  if not seen or tonumber(seen) <= oldest then return string.rep('s', actors) end
end

for i = 0, actors - 1 do
  local own, state, stream, due = unpack(KEYS, i * 4 + 1, i * 4 + 4)
  local token, expected, stamp, code, channel, ttl, dueAt = unpack(ARGV, at, at + 6)
  local fields, deleted, events = unpack(ARGV, at + 7, at + 9)
  local fieldsAt = at + 10
  local deletedAt = fieldsAt + fields * 2
  local eventsAt = deletedAt + deleted
  at = eventsAt + events * 2

  local owner = owners[own]
  if owner == nil then
    owner = call('GET', own) or ''
    owners[own] = owner
  end
  local stored = call('HGET', state, 'v') or ''
  if owner ~= token then
    results[i + 1] = 'f'
  elseif stored == stamp then
    results[i + 1] = 'a'
  elseif stored ~= expected then
    results[i + 1] = 'v'
  elseif events ~= '0' and type(try('XADD', stream, 'MAXLEN', '~', kept, ARGV[eventsAt], 'd', ARGV[eventsAt + 1])) == 'table' then
    results[i + 1] = 'r'
  else
    if deleted ~= '0' then call('HDEL', state, unpack(ARGV, deletedAt, eventsAt - 1)) end
    call('HSET', state, 'v', stamp, unpack(ARGV, fieldsAt, deletedAt - 1))
    if events ~= '0' then call('PUBLISH', channel, ARGV[eventsAt + 1]) end
    for n = eventsAt + 2, at - 1, 2 do
      call('XADD', stream, 'MAXLEN', '~', kept, ARGV[n], 'd', ARGV[n + 1])
      call('PUBLISH', channel, ARGV[n + 1])
    end
    if ttl ~= '' then
      call('PEXPIRE', state, ttl)
      call('PEXPIRE', stream, ttl)
    end
    if dueAt == '-' then
      call('ZREM', due, code)
    elseif dueAt ~= '' then
      call('ZADD', due, dueAt, code)
    end
    results[i + 1] = 'c'
  end
end
return table.concat(results)
