-- What a claim sees of a partition. heads.lua stands before this.

-- ripen moves hosts whose time has come to those that may be asked, ends claims that have
-- run out, and returns the hosts whose URLs came due later and are to be queued first.
local function ripen(time)
	for _, host in ipairs(call('ZRANGEBYSCORE', HELD, '-inf', int(time), 'LIMIT', 0, 1000)) do
		local head = read(host)
		letGo(head, head.low)
		save(head, time)
	end
	local ripe = {}
	for _, host in ipairs(call('ZRANGEBYSCORE', RESTING, '-inf', int(time), 'LIMIT', 0, 1000)) do
		local head = read(host)
		if head.free > 0 then save(head, time) else ripe[#ripe + 1] = host end
	end
	return ripe
end

-- look is what a claim has to know of the partition.
local function look(most, outbox, ripe)
	local ready = call('ZRANGE', READY, 0, most - 1, 'WITHSCORES')
	local next = ''
	if #ready == 0 and most > 0 or most == 0 and call('ZCARD', READY) == 0 then
		local host = call('ZRANGE', RESTING, 0, 0)[1]
		if host then next = due(read(host)) end
	else
		next = zero
	end
	return {next, ready, call('HGETALL', SUMS), call('HLEN', outbox), ripe}
end
