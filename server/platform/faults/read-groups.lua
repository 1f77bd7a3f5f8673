-- Reads groups; record.lua describes their keys.
-- KEYS[1]: prefix of all keys of the store. ARGV[1]: prefix of the queues, whose failed jobs are at <prefix>:<queue>:failed.
-- ARGV[2]: the present period. ARGV[3...]: ids, each with the version that the caller has, or an empty text.
-- Returns for each id its version, its fields, the number of players and the number of jobs failed now; only the version
-- if the caller has it, and an empty list for an unknown group.
local base, queues, period = KEYS[1], ARGV[1], ARGV[2]
local call = redis.call
local found, lists = {}, {}

-- What changes with every change of a list of failed jobs, unless clocks are apart: then the period limits the error.
local function versionOf(list)
  if not lists[list] then
    local newest = call('ZRANGE', list, -1, -1, 'WITHSCORES')
    lists[list] = call('ZCARD', list) .. '/' .. (newest[2] or '')
  end
  return lists[list]
end

for at = 3, #ARGV, 2 do
  local id, known = ARGV[at], ARGV[at + 1]
  local key, jobs = base .. ':group:' .. id, base .. ':jobs:' .. id
  local facts = call('HMGET', key, 'first', 'total', 'place')
  local group = {}
  if facts[1] then
    local failed = queues .. ':' .. (facts[3] or '') .. ':failed'
    group[1] = table.concat({ period, facts[1], facts[2], call('ZCARD', jobs), versionOf(failed) }, '/')
    if group[1] ~= known then
      local fields = call('HMGET', key, 'key', 'first', 'last', 'total', 'jobs_from', 'example')
      for field = 1, 6 do group[field + 1] = fields[field] or '' end
      group[8] = call('PFCOUNT', base .. ':players:' .. id)
      group[9] = call('ZINTERCARD', 2, jobs, failed)
    end
  end
  found[#found + 1] = group
end
return found
