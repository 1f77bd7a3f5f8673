-- Adds the occurrences of one process since its last batch.
-- KEYS[1]: prefix of all keys of the store. ARGV[1]: the batch as JSON. ARGV[2..6]: maximum number of groups, maximum
-- number of jobs over all groups, milliseconds that a group is kept after its last occurrence, number of periods, number
-- of the hashes of owners.
-- Keys below the prefix:
--   groups         ids of the groups by their last occurrence
--   group:<id>     key, place, first, last, total, example; jobs_from: jobs that failed before are no longer listed
--   periods:<id>   per period its number and its count, 4 bytes each, in a ring
--   players:<id>   players hit, as HyperLogLog
--   jobs:<id>      failed jobs by the time of their failure
--   owners:<n>     id of the group of each job, by a digest of its queue and id: hashes small enough to be packed
--   meta           dropped; groups_from and jobs_from: what is older was evicted
--   batch:<id>     number of the last batch of a process
local base = KEYS[1]
local batch = cjson.decode(ARGV[1])
local maxGroups, maxJobs, keptMs, ring = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local numOwners = tonumber(ARGV[6])
local order, meta = base .. ':groups', base .. ':meta'
local call = redis.call

local lastBatch = base .. ':batch:' .. batch.instance
if call('GET', lastBatch) == tostring(batch.seq) then return 0 end
call('SET', lastBatch, batch.seq, 'PX', 3600000)
if batch.numDropped > 0 then call('HINCRBY', meta, 'dropped', batch.numDropped) end

local function raise(key, field, value)
  if value > tonumber(call('HGET', key, field) or 0) then call('HSET', key, field, value) end
end

local function count(id, periods)
  local key = base .. ':periods:' .. id
  for _, each in ipairs(periods) do
    local period, added = each[1], each[2]
    local at = (period % ring) * 8
    local before = call('GETRANGE', key, at, at + 7)
    local known, sum = -1, 0
    if #before == 8 then known, sum = struct.unpack('>I4I4', before) end
    if known <= period then
      if known == period then added = added + sum end
      call('SETRANGE', key, at, struct.pack('>I4I4', period, added))
    end
  end
end

-- Key and field of the owner of a job, as in store.ts.
local function ownerOf(place, job)
  local digest = redis.sha1hex(place .. '/' .. job)
  return base .. ':owners:' .. tonumber(string.sub(digest, 1, 4), 16) % numOwners, string.sub(digest, 5, 20)
end

-- A job belongs to the group of its latest failure.
local function ownJobs(group)
  local key = base .. ':jobs:' .. group.id
  for _, each in ipairs(group.jobs) do
    local job, at = each[1], each[2]
    local owners, name = ownerOf(group.place, job)
    local owner = call('HGET', owners, name)
    local before = owner and tonumber(call('ZSCORE', base .. ':jobs:' .. owner, job) or 0) or 0
    if before <= at then
      if owner and owner ~= group.id then call('ZREM', base .. ':jobs:' .. owner, job) end
      call('HSET', owners, name, group.id)
      call('ZADD', key, at, job)
    end
  end
end

local function add(group)
  local key = base .. ':group:' .. group.id
  if call('EXISTS', key) == 0 then
    call('HSET', key, 'key', group.key, 'place', group.place, 'first', group.firstMs, 'last', 0, 'total', 0)
  end
  call('HINCRBY', key, 'total', group.total)
  if group.firstMs < tonumber(call('HGET', key, 'first')) then call('HSET', key, 'first', group.firstMs) end
  if group.lastMs >= tonumber(call('HGET', key, 'last')) then
    call('HSET', key, 'last', group.lastMs, 'example', group.example)
    call('ZADD', order, group.lastMs, group.id)
  end
  count(group.id, group.periods)
  if #group.players > 0 then call('PFADD', base .. ':players:' .. group.id, unpack(group.players)) end
  ownJobs(group)
end

-- Removes the jobs of a group that failed first, up to a number of them and up to a time.
local function removeJobs(id, place, untilMs, most)
  local key = base .. ':jobs:' .. id
  local jobs = call('ZRANGEBYSCORE', key, '-inf', untilMs, 'LIMIT', 0, most)
  for _, job in ipairs(jobs) do
    call('HDEL', ownerOf(place, job))
    call('ZREM', key, job)
  end
  return #jobs
end

local function evictGroup(id, lastMs)
  local place = call('HGET', base .. ':group:' .. id, 'place')
  removeJobs(id, place or '', '+inf', -1)
  for _, kind in ipairs({ 'group', 'periods', 'players', 'jobs' }) do call('UNLINK', base .. ':' .. kind .. ':' .. id) end
  call('ZREM', order, id)
  raise(meta, 'groups_from', lastMs)
end

local function evictGroups(found)
  for i = 1, #found, 2 do evictGroup(found[i], tonumber(found[i + 1])) end
end

-- Of all groups the jobs that failed first: from the group with the oldest one up to the oldest one of the others.
local function evictJobs(excess)
  local heads = {}
  for _, id in ipairs(call('ZRANGE', order, 0, -1)) do
    local first = call('ZRANGE', base .. ':jobs:' .. id, 0, 0, 'WITHSCORES')
    if first[2] then heads[#heads + 1] = { id = id, at = tonumber(first[2]) } end
  end
  while excess > 0 do
    local oldest, nextMs = nil, math.huge
    for _, head in ipairs(heads) do
      if oldest == nil or head.at < oldest.at then
        if oldest then nextMs = oldest.at end
        oldest = head
      elseif head.at < nextMs then
        nextMs = head.at
      end
    end
    if oldest == nil or oldest.at == math.huge then return end
    local group, key = base .. ':group:' .. oldest.id, base .. ':jobs:' .. oldest.id
    local untilMs = nextMs == math.huge and '+inf' or nextMs
    excess = excess - removeJobs(oldest.id, call('HGET', group, 'place'), untilMs, excess)
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    oldest.at = first[2] and tonumber(first[2]) or math.huge
    local from = first[2] and tonumber(first[2]) or batch.nowMs
    raise(group, 'jobs_from', from)
    raise(meta, 'jobs_from', from)
  end
end

for _, group in ipairs(batch.groups) do add(group) end
evictGroups(call('ZRANGEBYSCORE', order, '-inf', batch.nowMs - keptMs, 'WITHSCORES', 'LIMIT', 0, 50))
local excess = call('ZCARD', order) - maxGroups
if excess > 0 then evictGroups(call('ZRANGE', order, 0, excess - 1, 'WITHSCORES')) end
local jobs = 0
for _, id in ipairs(call('ZRANGE', order, 0, -1)) do jobs = jobs + call('ZCARD', base .. ':jobs:' .. id) end
if jobs > maxJobs then evictJobs(jobs - maxJobs) end
return 1
