-- In which partition a page is: KEYS h r w c s, its bucket and the one that is split into it;
-- ARGV level, splitting, field, partition.
local wrong = misled('I', ARGV[1], ARGV[2])
if wrong then return wrong end
if call('HSETNX', home(ARGV[2], KEYS[6], KEYS[7]), ARGV[3], ARGV[4]) == 1 then
	bump('IN', 1)
	flush()
	return {'ok', 0, grow('I', 100)}
end
return {'ok', 0, '0'}
