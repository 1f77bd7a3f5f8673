-- Opens a board that was built under another name, if nobody wrote since it was brought up to date.
-- KEYS: batch, open, then pairs of built key and its place.
-- ARGV: batch as it must be, batch it becomes, family, now ms. Returns 1 when it is done, else 0.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
for at = 3, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[at]) == 1 then
    redis.call('RENAME', KEYS[at], KEYS[at + 1])
    redis.call('PERSIST', KEYS[at + 1])
  else
    redis.call('UNLINK', KEYS[at + 1])
  end
end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
redis.call('SET', KEYS[1], ARGV[2])
return 1
