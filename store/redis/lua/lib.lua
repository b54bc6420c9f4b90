-- What all scripts share. It stands in front of each.

local call = redis.call

-- now is the server's clock in microseconds: a double holds them exactly until 2255.
local function now()
	local t = call('TIME')
	return t[1] * 1000000 + t[2]
end

-- home is where a field of a growing bucket lives: while buckets are split, in the bucket
-- that is to be split, as long as that is there.
local function home(splitting, own, parent)
	if splitting and call('EXISTS', parent) == 1 then
		return parent
	end
	return own
end

local function int(n) return string.format('%.0f', n) end
