-- Counts an outcome of jobs once, and forgets them.
-- KEYS[1]: to do or tried. KEYS[2]: counts of the action. ARGV[1]: name of the count. ARGV[2...]: ids.
local settled = 0
for at = 2, #ARGV do settled = settled + redis.call('ZREM', KEYS[1], ARGV[at]) end
-- After the end of the action nothing is left to settle, and nothing is written.
if settled > 0 then redis.call('HINCRBY', KEYS[2], ARGV[1], settled) end
return settled
