-- Splits a crowded bucket in two.
--
-- KEYS: the bucket; the bucket of those of its lists whose next bit is set. ARGV: the depth
-- at which it was crowded.

local depth = tonumber(ARGV[1])
if tonumber(call('HGET', KEYS[1], 'd') or nil) ~= depth then
	return 0 -- another split it
end
local all = call('HGETALL', KEYS[1])
local move, leave = { 'd', depth + 1 }, {}
for i = 1, #all, 2 do
	local a, b, c, d = string.byte(all[i], 3, 6)
	if d and math.floor((((a * 256 + b) * 256 + c) * 256 + d) / 2 ^ depth) % 2 == 1 then
		move[#move + 1], move[#move + 2] = all[i], all[i + 1]
		leave[#leave + 1] = all[i]
	end
end
call('HSET', KEYS[2], unpack(move))
if #leave > 0 then
	call('HDEL', KEYS[1], unpack(leave))
end
call('HSET', KEYS[1], 'd', depth + 1)
return 1
