-- What may be claimed in some partitions: KEYS h r w c s o of each; ARGV how many hosts to name.
-- Where nothing is counted there is nothing.
local time = now()
local views = {}
for i = 1, #KEYS, 6 do
	HEADS, READY, RESTING, HELD, SUMS = KEYS[i], KEYS[i + 1], KEYS[i + 2], KEYS[i + 3], KEYS[i + 4]
	if call('EXISTS', SUMS, KEYS[i + 5]) > 0 then
		local ripe = ripen(time)
		flush()
		views[#views + 1] = look(tonumber(ARGV[1]), KEYS[i + 5], ripe)
	else
		views[#views + 1] = {'', {}, {}, 0, {}}
	end
end
return views
