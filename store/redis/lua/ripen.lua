-- URLs that came due arrive: KEYS h r w c s, those due later, then lanes; ARGV host, then
-- the numbers of the lanes.
local time = now()
local head = read(ARGV[1])
local keys = {}
for i = 2, #ARGV do keys[ARGV[i]] = KEYS[i + 5] end
for _, member in ipairs(call('ZRANGEBYSCORE', KEYS[6], '-inf', int(time), 'LIMIT', 0, 500)) do
	local lane, item = string.match(member, '^%d+\n(%-?%d+)\n(.*)$')
	if keys[lane] then
		call('ZREM', KEYS[6], member)
		queue(head, keys[lane], lane, '', item)
	end
end
local next = call('ZRANGE', KEYS[6], 0, 0)[1]
head.later = next and string.sub(next, 1, 19) or ''
save(head, time)
flush()
return 'ok'
