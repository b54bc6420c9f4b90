-- A named value is set if it is what it was: KEYS values; ARGV name, whether there was one,
-- what it was, what it is to be.
local was = call('HGET', KEYS[1], ARGV[1])
if (was or nil) ~= (ARGV[2] == '1' and ARGV[3] or nil) then return 0 end
call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
