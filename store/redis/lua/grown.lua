-- All buckets of a directory have been split: KEYS h r w c s; ARGV directory, level. Answers 'more' if
-- that is not so.
local is, splitting = level(ARGV[1])
if not splitting or is ~= tonumber(ARGV[2]) then return 'ok' end
if tonumber(call('HGET', SUMS, ARGV[1] .. 'S') or 0) < 2 ^ (is - 1) then return 'more' end
call('HSET', SUMS, ARGV[1] .. 'T', 0)
call('HDEL', SUMS, ARGV[1] .. 'S')
return 'ok'
