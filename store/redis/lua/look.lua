-- What may be claimed in some partitions: KEYS h r w c s o of each; ARGV how many hosts to name.
-- Where no host is known and nothing is on its way there is nothing, but a directory may be being split.
local time = now()
local views, none = {}, {'', {}, {}, 0, {}}
for i = 1, #KEYS, 6 do
	HEADS, READY, RESTING, HELD, SUMS = KEYS[i], KEYS[i + 1], KEYS[i + 2], KEYS[i + 3], KEYS[i + 4]
	if call('EXISTS', HEADS, KEYS[i + 5]) > 0 then
		local ripe = ripen(time)
		flush()
		views[#views + 1] = look(tonumber(ARGV[1]), KEYS[i + 5], ripe)
	else
		local split = call('HMGET', SUMS, 'UT', 'IT')
		local splits = split[1] == '1' or split[2] == '1'
		views[#views + 1] = splits and {'', {}, {'UT', split[1] or '0', 'IT', split[2] or '0'}, 0, {}} or none
	end
end
return views
