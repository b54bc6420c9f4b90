-- Reads the beginnings of lists. It writes nothing.
--
-- ARGV: of each list its field, the depth of its bucket as far as the caller knows, and how many
-- postings to read of it if it is long. Answers of each list its postings, or a number, that of
-- find, if the caller knew a wrong depth.

local answers = {}
for i = 0, #KEYS / 3 - 1 do
	local arg = 1 + i * 3
	local bucket, depth, list = find(i, tonumber(ARGV[arg + 1]), ARGV[arg])
	if not bucket then
		answers[i + 1] = depth
	elseif list == '' then
		answers[i + 1] = call('GETRANGE', KEYS[i * 3 + 3], 0, ARGV[arg + 2] * size - 1)
	else
		answers[i + 1] = list or ''
	end
end
return answers
