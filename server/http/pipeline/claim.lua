-- Claims an idempotency key for one request, with the input drawn for it. Every attempt gets the input stored first.
-- KEYS: mark of the key, input.
-- ARGV: mark of a running request, ms of its lease, drawn input or '' (none yet), ms for which the input is kept.
-- A claim that was sent again after a lost connection finds its own mark.
-- Returns { 1, input or '' } for the claiming request, else { 0, present mark }.
local present = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'GET', 'PX', ARGV[2])
if present and present ~= ARGV[1] then return { 0, present } end
local input = ARGV[3]
if input ~= '' then
  input = redis.call('SET', KEYS[2], input, 'NX', 'GET', 'PX', ARGV[4]) or input
end
return { 1, input }
