-- Adds what one process noted about requests since its last batch.
-- KEYS[1]: prefix of all keys of the store. ARGV[1]: the batch as JSON: its entries are kind, number of the list, text.
-- ARGV[2..6]: milliseconds that an entry is kept; most entries of each kind; of one kind and request; of one list;
-- most entries evicted per kind and batch.
-- Keys below the prefix:
--   <kind>:<number>  entries of the requests whose ids have this number, oldest first; an entry begins with a digest of
--                    the request id and the time
--   order:<kind>     numbers of the lists in the order of all entries of the kind, oldest first
--   meta             dropped; <kind>_from: what is older was evicted
--   batch:<id>       number of the last batch of a process
local base = KEYS[1]
local batch = cjson.decode(ARGV[1])
local keptMs, maxEntries, maxOfRequest = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local maxOfList, maxEvicted = tonumber(ARGV[5]), tonumber(ARGV[6])
local meta = base .. ':meta'
local call = redis.call

local lastBatch = base .. ':batch:' .. batch.instance
if call('GET', lastBatch) == tostring(batch.seq) then return 0 end
call('SET', lastBatch, batch.seq, 'PX', 3600000)

-- False if the request, or those that share its list, have as many entries as may be kept.
local function add(kind, number, text)
  local key = base .. ':' .. kind .. ':' .. number
  local present = call('LRANGE', key, 0, -1)
  if #present >= maxOfList then return false end
  local start = string.match(text, '^%S+ ')
  local same = 0
  for _, each in ipairs(present) do
    if string.sub(each, 1, #start) == start then same = same + 1 end
  end
  if same >= maxOfRequest then return false end
  call('RPUSH', key, text)
  call('RPUSH', base .. ':order:' .. kind, number)
  return true
end

-- Each list has its entries in the order of all of them, so the oldest one is the head of the list named first.
local function evict(kind)
  local order = base .. ':order:' .. kind
  for _ = 1, maxEvicted do
    local number = call('LINDEX', order, 0)
    if not number then return end
    local key = base .. ':' .. kind .. ':' .. number
    local head = call('LINDEX', key, 0)
    local at = head and tonumber(string.match(head, '^%S+ (%d+)')) or 0
    if call('LLEN', order) <= maxEntries and at > batch.nowMs - keptMs then return end
    call('LPOP', order)
    call('LPOP', key)
    if at > tonumber(call('HGET', meta, kind .. '_from') or 0) then call('HSET', meta, kind .. '_from', at) end
  end
end

local dropped = batch.numDropped
for _, each in ipairs(batch.entries) do
  if not add(each[1], each[2], each[3]) then dropped = dropped + 1 end
end
if dropped > 0 then call('HINCRBY', meta, 'dropped', dropped) end
for _, kind in ipairs(batch.kinds) do evict(kind) end
return 1
