-- Moves jobs from those to do to those tried, before they are retried or removed. A job that another run of the same
-- action has claimed is left out.
-- KEYS[1]: to do. KEYS[2]: tried. ARGV[1]: milliseconds until both expire. ARGV[2...]: ids. Returns the claimed ids.
local claimed = {}
for at = 2, #ARGV do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[at])
  if score then
    redis.call('ZREM', KEYS[1], ARGV[at])
    redis.call('ZADD', KEYS[2], score, ARGV[at])
    claimed[#claimed + 1] = ARGV[at]
  end
end
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return claimed
