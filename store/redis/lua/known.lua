-- What a directory says of some fields: KEYS h r w c s, then of each its bucket and the one
-- that is split into it; ARGV directory, level, splitting, then the fields.
local wrong = misled(ARGV[1], ARGV[2], ARGV[3])
if wrong then return wrong end
local all = {'ok'}
for i = 4, #ARGV do
	all[#all + 1] = call('HGET', home(ARGV[3], KEYS[2 * i - 2], KEYS[2 * i - 1]), ARGV[i]) or ''
end
return all
