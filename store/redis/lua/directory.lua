-- Directories, see buckets.go. sums.lua stands before this.

-- level answers how many buckets a directory of the partition has, and whether they are
-- being split. A caller who believes something else has named the wrong keys.
local function level(directory)
	if not sums[directory .. 'L'] then recall(directory .. 'L', directory .. 'T', directory .. 'N') end
	return sums[directory .. 'L'], sums[directory .. 'T'] == 1
end

local function misled(directory, believed, splitting)
	local is, now_splitting = level(directory)
	if is ~= tonumber(believed) or now_splitting ~= (splitting == '1') then
		return {'level', int(is), now_splitting and '1' or '0'}
	end
end

-- home is the bucket of a field: while buckets are split, the one that is to be split, as
-- long as that is there.
local function home(splitting, own, parent)
	if splitting == '1' and call('EXISTS', parent) == 1 then
		return parent
	end
	return own
end

-- grow says that buckets are to be split, once they are full; most is what a bucket holds
-- on average then.
local function grow(directory, most)
	local is, splitting = level(directory)
	if not splitting and is < 24 and sum(directory .. 'N') > most * 2 ^ is then
		call('HSET', SUMS, directory .. 'L', is + 1, directory .. 'T', 1, directory .. 'S', 0)
		return '1'
	end
	return '0'
end
