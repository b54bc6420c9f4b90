-- The sums of the partition, of which the keys are the first five of a script.

local SUMS = KEYS[5]

-- bump counts in the partition's sums. They are written once, by flush.
local bumped = {}
local function bump(name, n) bumped[name] = (bumped[name] or 0) + n end
local function flush()
	for name, n in pairs(bumped) do
		if n ~= 0 then call('HINCRBY', SUMS, name, int(n)) end
	end
	bumped = {}
end
