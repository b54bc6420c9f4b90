-- A run begins, in which nobody holds a host: KEYS h r w c s. What a rest says of the run
-- before ends with it.
local time = now()
for _, host in ipairs(call('HKEYS', HEADS)) do
	local head = read(host)
	if head.token ~= 0 then letGo(head, head.low) end
	head.due, head.idle, head.passing = head.blocked, '', ''
	save(head, time)
end
flush()
for _, name in ipairs(call('HKEYS', SUMS)) do
	if string.sub(name, 1, 1) == 'k' then call('HDEL', SUMS, name) end
end
return 'ok'
