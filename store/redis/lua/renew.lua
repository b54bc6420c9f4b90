-- Claims last longer: KEYS h r w c s; ARGV microseconds, then worker, host and token of
-- each. Answers with the numbers of those that were lost.
local time, lost = now(), {}
for i = 2, #ARGV, 3 do
	local head = read(ARGV[i + 1])
	if holds(head, ARGV[i], ARGV[i + 2], time) then
		head.till = time + ARGV[1]
		save(head, time)
	else
		lost[#lost + 1] = (i - 2) / 3
	end
end
flush()
return lost
