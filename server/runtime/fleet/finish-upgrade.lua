-- Records that the upgrade to a release is finished, unless an instance of another release lives: in one step with the
-- start of an instance (join.lua), which then sees the record or is seen here.
-- KEYS: leases, entries, the release of the last finished upgrade. ARGV: the release.
-- Returns {1, the release before or ''}, or {0, entries of the other release as JSON...}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others = {0}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
  local text = redis.call('HGET', KEYS[2], id)
  local is_json, entry = pcall(cjson.decode, text or '')
  if not is_json or entry.version ~= ARGV[1] then table.insert(others, text or id) end
end
if #others > 1 then return others end
local former = redis.call('GET', KEYS[3]) or ''
redis.call('SET', KEYS[3], ARGV[1])
return {1, former}
