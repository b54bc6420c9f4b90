-- Hosts are claimed that may be: KEYS h r w c s o; ARGV worker, microseconds, how many
-- others to name, then each host, as look named it. Answers with heads, and with what look says after that.
local time = now()
local given = {}
for i = 4, #ARGV do
	local head = read(string.sub(ARGV[i], 20))
	local when = due(head)
	if head.token == 0 and head.free > 0 and when and micros(when) <= time then
		head.token, head.worker, head.till = call('HINCRBY', SUMS, 'token', 1), ARGV[1], time + ARGV[2]
		bump('k' .. ARGV[1], 1)
		save(head, time)
		given[#given + 1] = head.host
		given[#given + 1] = int(first(head))
		given[#given + 1] = call('HGET', HEADS, head.host)
	elseif head.at ~= 'r' .. string.sub(ARGV[i], 1, 19) then
		call('ZREM', READY, ARGV[i]) -- it is not there any more
	end
end
flush()
return {given, look(tonumber(ARGV[3]), KEYS[6], {})}
