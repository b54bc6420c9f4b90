-- What scripts about posting lists share. Of each list they are given three keys: the
-- bucket in which it is if that has the depth that the caller believes in, the bucket if
-- it is one less deep, and where the list is when it is long.

local size = 6    -- bytes of a posting
local inline = 60 -- bytes of a list in its bucket: one byte more than 64 would unpack the bucket
local most = 128  -- fields of a bucket

-- find is the bucket of list i, its depth, and the list in it or false; and true if it is the first
-- of its partition and not there yet. Without a bucket, the second is what the depth must be more
-- than, or -1 if it must be less than the caller believes.
local function find(i, guess, field)
	for less = 0, 1 do
		local key = KEYS[i * 3 + 1 + less]
		local is = call('HMGET', key, 'd', field)
		local d = tonumber(is[1] or nil)
		if d and d <= guess - less then
			return key, d, is[2]
		elseif d then
			return nil, d
		end
	end
	if guess == 0 then
		return KEYS[i * 3 + 1], 0, false, true
	end
	return nil, -1
end

local function has(list, posting)
	for at = 1, #list, size do
		if string.sub(list, at, at + size - 1) == posting then
			return true
		end
	end
	return false
end
