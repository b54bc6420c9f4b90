-- All buckets of a directory have been split: KEYS h r w c s; ARGV directory, level.
local is, splitting = level(ARGV[1])
if splitting and is == tonumber(ARGV[2]) then call('HSET', SUMS, ARGV[1] .. 'T', 0) end
return 'ok'
