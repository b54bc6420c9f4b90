-- Adds up hashes of numbers: KEYS some hashes. Answers with names and numbers, one after the other.
local total = {}
for _, key in ipairs(KEYS) do
	local all = call('HGETALL', key)
	for i = 1, #all, 2 do
		local n = tonumber(all[i + 1])
		if n then total[all[i]] = (total[all[i]] or 0) + n end
	end
end
local answer = {}
for name, n in pairs(total) do
	answer[#answer + 1] = name
	answer[#answer + 1] = int(n)
end
return answer
