-- Puts a posting, the first argument, at the end of lists. postings.lua stands before this.

local posting = ARGV[1]

local function unseen(count, last, range)
	if count > 0 and range((count - 1) * size, count * size - 1) == last then
		return range(count * size, -1)
	end
	return range(0, -1)
end

-- put puts it at the end of a list that is there, and returns what the list is to say.
local function put(bucket, list, long, field, wants, count, last)
	local heeds, posts, tail = wants ~= 'p', wants ~= 'h', ''
	if list == '' then
		if heeds then
			tail = unseen(count, last, function(from, to) return call('GETRANGE', long, from, to) end)
		end
		-- it may stand there already: somebody did not hear so, or something else was in the way
		if posts and not has(heeds and tail or call('GETRANGE', long, -16 * size, -1), posting) then
			call('APPEND', long, posting)
		end
		return tail
	end
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

-- append puts it at the end of some lists. Of each there are, behind the first args arguments: its
-- field, the depth of its bucket as far as the caller knows, "p" if the posting is to be put there, "h"
-- if it must heed what is there, or both, how many postings its look-up saw, and the last of them.
--
-- It returns of each list: what stands in it after those that were seen, all of it if they are not
-- there any more, behind one byte that says whether the bucket is to be split and one that is its
-- depth; or a number, that of find, if the caller knew a wrong depth. And whether all depths were right
-- and nothing is to be heeded.
local function append(lists, args)
	local said, clear = {}, true
	for i = 0, lists - 1 do
		local arg = args + i * 5
		local field, wants = ARGV[arg + 1], ARGV[arg + 3]
		local bucket, depth, list, first = find(i, tonumber(ARGV[arg + 2]), field)
		if not bucket then
			said[i + 1], clear = depth, false
		else
			local tail, crowded = '', '0'
			if list then
				tail = put(bucket, list, KEYS[i * 3 + 3], field, wants, tonumber(ARGV[arg + 4]), ARGV[arg + 5])
				clear = clear and (tail == '' or string.sub(tail, 1, size) == posting)
			elseif wants ~= 'h' then
				if first then
					call('HSET', bucket, 'd', 0, field, posting)
				else
					call('HSET', bucket, field, posting)
				end
				if looks(field) and call('HLEN', bucket) > most then
					crowded = '1'
				end
			end
			said[i + 1] = crowded .. string.char(depth) .. tail
		end
	end
	return said, clear
end
