-- Puts a posting at the end of lists, and answers with what stands before it.
--
-- ARGV: the posting; then of each list: its field, the depth of its bucket as far as the
-- caller knows, "p" if the posting is to be put there, "h" if it must heed what is there,
-- how many postings its look-up saw, and the last of them.
--
-- Answers of each list: what stands in it after those that were seen, all of it if they
-- are not there any more, behind one byte that says whether the bucket is to be split and
-- one that is its depth; or a number, that of find, if the caller knew a wrong depth.

local posting = ARGV[1]

local function unseen(count, last, range)
	if count > 0 and range((count - 1) * size, count * size - 1) == last then
		return range(count * size, -1)
	end
	return range(0, -1)
end

local function put(bucket, list, long, field, wants, count, last)
	local heeds, posts = string.find(wants, 'h', 1, true), string.find(wants, 'p', 1, true)
	if list == '' then
		local tail = ''
		if heeds then
			tail = unseen(count, last, function(from, to) return call('GETRANGE', long, from, to) end)
		end
		if posts and not has(tail, posting) then
			call('APPEND', long, posting)
		end
		return tail
	end
	list = list or ''
	local tail = ''
	if heeds then
		tail = unseen(count, last, function(from, to)
			if to >= 0 then
				to = to + 1
			end
			return string.sub(list, from + 1, to)
		end)
	end
	if posts and not has(list, posting) then
		list = list .. posting
		if #list > inline then
			call('SET', long, list)
			list = ''
		end
		call('HSET', bucket, field, list)
	end
	return tail
end

-- looks says whether to look how full a bucket is: whenever one list in eight comes into it.
local function looks(field) return string.byte(field, 1) % 8 == 0 end

local answers = {}
for i = 0, #KEYS / 3 - 1 do
	local arg = 2 + i * 5
	local guess = tonumber(ARGV[arg + 1])
	local bucket, depth, list, first = find(i, guess, ARGV[arg])
	if not bucket then
		answers[i + 1] = depth
	else
		if first and string.find(ARGV[arg + 2], 'p', 1, true) then
			call('HSET', bucket, 'd', 0)
		end
		local tail = put(bucket, list, KEYS[i * 3 + 3], ARGV[arg], ARGV[arg + 2], tonumber(ARGV[arg + 3]), ARGV[arg + 4])
		local crowded = '0'
		if not list and looks(ARGV[arg]) and call('HLEN', bucket) > most then
			crowded = '1'
		end
		answers[i + 1] = crowded .. string.char(depth) .. tail
	end
end
return answers
