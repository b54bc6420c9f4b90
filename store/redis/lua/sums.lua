-- The sums of the partition, of which the keys are the first five of a script.

local SUMS = KEYS[KEY0 + 5]

-- recall reads sums in one call. What is read is known until the script ends, so that flush writes
-- what became of it.
local sums = {}
local function recall(...)
	for i, value in ipairs(call('HMGET', SUMS, ...)) do sums[select(i, ...)] = tonumber(value or 0) end
end

-- bump counts in the partition's sums, and sum is one that was read, as it is now. They are written
-- once, by flush.
local bumped = {}
local function bump(name, n) bumped[name] = (bumped[name] or 0) + n end
local function sum(name) return sums[name] + (bumped[name] or 0) end
local function flush()
	local values = {}
	for name, n in pairs(bumped) do
		if n ~= 0 and sums[name] then
			sums[name] = sums[name] + n
			values[#values + 1], values[#values + 2] = name, int(sums[name])
		elseif n ~= 0 then
			call('HINCRBY', SUMS, name, int(n))
		end
	end
	bumped = {}
	if #values > 0 then call('HSET', SUMS, unpack(values)) end
end
