-- Opens a board that was built under another name.
-- KEYS: open, then pairs of built key and its place. ARGV: family, now ms.
for at = 2, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[at]) == 1 then
    redis.call('RENAME', KEYS[at], KEYS[at + 1])
    redis.call('PERSIST', KEYS[at + 1])
  else
    redis.call('UNLINK', KEYS[at + 1])
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
