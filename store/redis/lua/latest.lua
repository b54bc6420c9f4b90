-- The latest of the commits of some partitions: KEYS their orders, ARGV the place after which none
-- counts. Answers with which of the orders it is in, from 0, and its place; or with nothing.
local which, latest = 0, ''
for i, key in ipairs(KEYS) do
	local entry = call('XREVRANGE', key, ARGV[1], '-', 'COUNT', 1)[1]
	local place = entry and string.match(entry[1], '^%d+')
	if place and (latest == '' or tonumber(place) >= tonumber(latest)) then
		which, latest = i - 1, place
	end
end
if latest == '' then return {} end
return {which, latest}
