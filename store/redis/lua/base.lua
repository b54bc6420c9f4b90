-- What all scripts share. It stands in front of each. A script is run from its top each time, so
-- what it does not need costs it some microseconds: the other files that scripts share stand in
-- front of those alone that name them.

local call = redis.call
local KEYS, ARGV = KEYS, ARGV -- globals cost more

-- KEY0 and ARG0 are how many keys and arguments belong to something else, which is done before anything
-- is written, before does it, and says if that is all, and said is what else it has to say, see
-- commit.lua.
local KEY0, ARG0, before, said = 0, 0

-- now is the server's clock in microseconds: a double holds them exactly until 2255.
local function now()
	local t = call('TIME')
	return t[1] * 1000000 + t[2]
end

local function int(n) return string.format('%d', n) end
