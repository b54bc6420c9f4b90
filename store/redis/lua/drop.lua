-- A URL that has ended while it was queued is taken out: KEYS h r w c s, those due later, then
-- lanes; ARGV host, field, then the numbers of the lanes. It looks through the queue:
-- who ends URLs has taken them, so this is as good as never needed.
local time = now()
local head = read(ARGV[1])
if table.concat(ARGV, ',', 3) ~= head.lanes then return {'lanes', head.lanes} end
for i = 3, #ARGV do
	local key = KEYS[i + 4]
	for at, item in ipairs(call('LRANGE', key, 0, -1)) do
		if string.sub(item, 1, 8) == ARGV[2] then
			call('LSET', key, at - 1, '')
			call('LREM', key, 1, '')
			if call('EXISTS', key) == 0 then removeLane(head, ARGV[i]) end
			head.free = head.free - 1
			save(head, time)
			flush()
			return {'ok'}
		end
	end
end
for _, member in ipairs(call('ZRANGE', KEYS[6], 0, -1)) do
	local item = string.match(member, '^%d+\n%-?%d+\n(.*)$')
	if string.sub(item, 1, 8) == ARGV[2] then
		call('ZREM', KEYS[6], member)
		local next = call('ZRANGE', KEYS[6], 0, 0)[1]
		head.later = next and string.sub(next, 1, 19) or ''
		save(head, time)
		flush()
		break
	end
end
return {'ok'}
