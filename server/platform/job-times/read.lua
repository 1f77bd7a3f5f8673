-- Periods of one queue that had jobs, as record.lua stores them.
-- KEYS[1]: their hash. ARGV[1..3]: first and last period, periods kept.
local first, last, ring = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local found = {}
for period = first, last do
  local packed = redis.call('HGET', KEYS[1], period % ring)
  local kept = packed and cmsgpack.unpack(packed)
  if kept and kept[1] == period then found[#found + 1] = kept end
end
return found
