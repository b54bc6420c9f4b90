-- Takes a posting out of lists.
--
-- ARGV: the posting; then of each list its field and the depth of its bucket as far as the
-- caller knows. Answers of each list "", or a number, that of find, if that was wrong.

local posting = ARGV[1]

local function without(list)
	local left = {}
	for at = 1, #list, size do
		local p = string.sub(list, at, at + size - 1)
		if p ~= posting then
			left[#left + 1] = p
		end
	end
	return table.concat(left)
end

local function take(bucket, list, long, field)
	if not list then
		return
	end
	if list == '' then
		local left = without(call('GET', long) or '')
		if left ~= '' then
			call('SET', long, left)
		else
			call('DEL', long)
			call('HDEL', bucket, field)
		end
		return
	end
	local left = without(list)
	if left == '' then
		call('HDEL', bucket, field)
	else
		call('HSET', bucket, field, left)
	end
end

local answers = {}
for i = 0, #KEYS / 3 - 1 do
	local bucket, depth, list = find(i, tonumber(ARGV[3 + i * 2]), ARGV[2 + i * 2])
	answers[i + 1] = depth
	if bucket then
		take(bucket, list, KEYS[i * 3 + 3], ARGV[2 + i * 2])
		answers[i + 1] = ''
	end
end
return answers
