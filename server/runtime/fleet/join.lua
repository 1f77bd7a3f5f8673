-- Registers an instance of the fleet, or renews its lease, by the clock of Redis.
-- KEYS: leases, entries, the release of the last finished upgrade. ARGV: instance id, its entry as JSON, milliseconds of a
--       lease, maximum number of instances, own release, the release before, fingerprints of its secrets...
--       Without fingerprints it only renews.
-- Returns {outcome, milliseconds since 1970}. Outcomes: 'joined'; 'full'; 'release', the stores are of a release that
--          cannot run beside it; 'secret', live instances know none of its secrets.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local leases, entries, id = KEYS[1], KEYS[2], ARGV[1]
local lease = tonumber(ARGV[3])
-- Leases from before the clock was set back would live until it catches up.
for _, other in ipairs(redis.call('ZRANGEBYSCORE', leases, '(' .. now + lease, '+inf')) do
  redis.call('ZADD', leases, now + lease, other)
end
for _, other in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('ZREM', leases, other)
  redis.call('HDEL', entries, other)
end

local function knows_a_secret()
  local all = redis.call('HVALS', entries)
  if #all == 0 then return true end
  for _, text in ipairs(all) do
    local is_json, entry = pcall(cjson.decode, text)
    -- An entry without fingerprints says nothing.
    if not is_json or type(entry.secrets) ~= 'table' then return true end
    for _, known in ipairs(entry.secrets) do
      for i = 7, #ARGV do
        if ARGV[i] == known then return true end
      end
    end
  end
  return false
end

if #ARGV >= 7 then
  local finished = redis.call('GET', KEYS[3])
  if finished and finished ~= ARGV[5] and finished ~= ARGV[6] then return {'release', now} end
  if not knows_a_secret() then return {'secret', now} end
end
local is_new = not redis.call('ZSCORE', leases, id)
if is_new and redis.call('ZCARD', leases) >= tonumber(ARGV[4]) then return {'full', now} end
redis.call('ZADD', leases, now + lease, id)
redis.call('HSET', entries, id, ARGV[2])
redis.call('PEXPIRE', leases, lease)
redis.call('PEXPIRE', entries, lease)
return {'joined', now}
