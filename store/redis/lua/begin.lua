-- What is known of a URL, and a number for a visit of its page: KEYS h r w c s, its bucket
-- and the one that is split into it; ARGV level, splitting, field.
local wrong = misled('U', ARGV[1], ARGV[2])
if wrong then return wrong end
return {'ok', call('HGET', home(ARGV[2], KEYS[6], KEYS[7]), ARGV[3]) or '0', call('HINCRBY', SUMS, 'V', 1)}
