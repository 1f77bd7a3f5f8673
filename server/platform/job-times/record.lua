-- Adds the attempts of one process since its last batch.
-- KEYS[1]: prefix of all keys of the store. ARGV[1]: the batch as JSON. ARGV[2..6]: minutes kept, hours kept, growth and
-- number of the buckets, maximum number of retries whose due time is kept.
-- Returns the index of the queue and the wait, in milliseconds, of each retry whose due time was known.
-- Keys below the prefix:
--   <queue>:minutes, <queue>:hours   per place in the ring: the number of the period, jobs completed, failed, retried,
--                                    waits and runs as the first bucket and the counts from it on
--   dues                             due time of the next attempt by queue and job
--   batch:<id>                       number of the last batch of a process
local base = KEYS[1]
local batch = cjson.decode(ARGV[1])
local minutes, hours = tonumber(ARGV[2]), tonumber(ARGV[3])
local growth, numBuckets, maxDues = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local dues = base .. ':dues'
local daySeconds = 86400
local call = redis.call

local lastBatch = base .. ':batch:' .. batch.instance
if call('GET', lastBatch) == tostring(batch.seq) then return {} end
call('SET', lastBatch, batch.seq, 'PX', 3600000)

local function countIn(counts, bucket)
  local at = bucket - counts[1]
  return at >= 0 and counts[at + 2] or 0
end

local function sumOf(kept, added)
  if #kept == 0 then return added end
  if #added == 0 then return kept end
  local first = math.min(kept[1], added[1])
  local last = math.max(kept[1] + #kept, added[1] + #added) - 2
  local sum = { first }
  for bucket = first, last do sum[#sum + 1] = countIn(kept, bucket) + countIn(added, bucket) end
  return sum
end

local function addPeriod(key, ring, period, cell)
  local packed = call('HGET', key, period % ring)
  local kept = packed and cmsgpack.unpack(packed)
  if kept and kept[1] > period then return end
  if not kept or kept[1] < period then kept = { period, 0, 0, 0, {}, {} } end
  for i = 2, 4 do kept[i] = kept[i] + cell[i] end
  for i = 5, 6 do kept[i] = sumOf(kept[i], cell[i]) end
  call('HSET', key, period % ring, cmsgpack.pack(kept))
end

local function add(queue, cell)
  local minute = cell[1]
  addPeriod(base .. ':' .. queue .. ':minutes', minutes, minute, cell)
  addPeriod(base .. ':' .. queue .. ':hours', hours, math.floor(minute / 60), cell)
end

local function bucketOf(ms)
  if ms < 1 then return 0 end
  return math.min(numBuckets - 1, 1 + math.floor(math.log(ms) / math.log(growth)))
end

local waits = {}
for index, queue in ipairs(batch.queues) do
  for _, cell in ipairs(queue.cells) do add(queue.name, cell) end
  for _, retry in ipairs(queue.retries) do
    -- Of a failed attempt: when the next one is due. Of a started one: its start and the minute it counts in.
    local job, ms, minute = queue.name .. '/' .. retry[1], retry[2], retry[3]
    if minute then
      local due = call('ZSCORE', dues, job)
      if due then
        local wait = math.max(0, ms - tonumber(due))
        add(queue.name, { minute, 0, 0, 0, { bucketOf(wait), 1 }, {} })
        waits[#waits + 1] = { index - 1, wait }
        call('ZREM', dues, job)
      end
    else
      call('ZADD', dues, ms, job)
    end
  end
  call('EXPIRE', base .. ':' .. queue.name .. ':minutes', daySeconds)
  call('EXPIRE', base .. ':' .. queue.name .. ':hours', hours * 3600)
end
call('ZREMRANGEBYSCORE', dues, '-inf', batch.nowMs - daySeconds * 1000)
local excess = call('ZCARD', dues) - maxDues
if excess > 0 then call('ZREMRANGEBYRANK', dues, 0, excess - 1) end
return waits
