-- What all scripts share. It stands in front of each. A script is run from its top each time, so
-- what it does not need costs it some microseconds: the other files that scripts share stand in
-- front of those alone that name them.

local call = redis.call

-- now is the server's clock in microseconds: a double holds them exactly until 2255.
local function now()
	local t = call('TIME')
	return t[1] * 1000000 + t[2]
end

local function int(n) return string.format('%.0f', n) end
