-- The lanes that URLs go to that came due: KEYS h r w c s, those due later; ARGV host.
local lanes, seen = {}, {}
for _, member in ipairs(call('ZRANGEBYSCORE', KEYS[6], '-inf', int(now()), 'LIMIT', 0, 500)) do
	local lane = string.match(member, '^%d+\n(%-?%d+)\n')
	if lane and not seen[lane] then
		lanes[#lanes + 1], seen[lane] = lane, true
	end
end
return lanes
