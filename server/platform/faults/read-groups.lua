-- Reads groups; record.lua describes their keys.
-- KEYS[1]: prefix of all keys of the store. ARGV[1]: prefix of the queues, whose failed jobs are at <prefix>:<queue>:failed.
-- ARGV[2...]: ids. Returns for each id its fields, the number of players and the number of jobs failed now; an empty list
-- for an unknown group.
local base, queues = KEYS[1], ARGV[1]
local call = redis.call
local found = {}
for at = 2, #ARGV do
  local id = ARGV[at]
  local group = call('HMGET', base .. ':group:' .. id, 'key', 'first', 'last', 'total', 'jobs_from', 'example', 'place')
  if group[1] then
    local place = group[7] or ''
    local jobs = call('ZINTERCARD', 2, base .. ':jobs:' .. id, queues .. ':' .. place .. ':failed')
    for field = 1, 6 do group[field] = group[field] or '' end
    group[7] = call('PFCOUNT', base .. ':players:' .. id)
    group[8] = jobs
  else
    group = {}
  end
  found[#found + 1] = group
end
return found
