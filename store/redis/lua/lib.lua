-- What all scripts share. It stands in front of each.

local call = redis.call

-- now is the server's clock in microseconds: a double holds them exactly until 2255.
local function now()
	local t = call('TIME')
	return t[1] * 1000000 + t[2]
end

local function int(n) return string.format('%.0f', n) end

-- Scripts about a partition have these keys first: heads of hosts, those that may be asked,
-- that rest, that are held, and the sums of the partition.
local HEADS, READY, RESTING, HELD, SUMS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

-- bump counts in the partition's sums. They are written once, by flush.
local bumped = {}
local function bump(name, n) bumped[name] = (bumped[name] or 0) + n end
local function flush()
	for name, n in pairs(bumped) do
		if n ~= 0 then call('HINCRBY', SUMS, name, int(n)) end
	end
	bumped = {}
end

-- level answers how many buckets a directory of the partition has, and whether they are
-- being split. A caller who believes something else has named the wrong keys.
local function level(directory)
	local is = call('HMGET', SUMS, directory .. 'L', directory .. 'T')
	return tonumber(is[1] or 0), is[2] == '1'
end

local function misled(directory, believed, splitting)
	local is, now_splitting = level(directory)
	if is ~= tonumber(believed) or now_splitting ~= (splitting == '1') then
		return {'level', int(is), now_splitting and '1' or '0'}
	end
end

-- home is the bucket of a field: while buckets are split, the one that is to be split, as
-- long as that is there.
local function home(splitting, own, parent)
	if splitting == '1' and call('EXISTS', parent) == 1 then
		return parent
	end
	return own
end

-- grow says that buckets are to be split, once they are full; most is what a bucket holds
-- on average then.
local function grow(directory, most)
	local is, splitting = level(directory)
	local fields = tonumber(call('HGET', SUMS, directory .. 'N') or 0)
	if not splitting and is < 24 and fields > most * 2 ^ is then
		call('HSET', SUMS, directory .. 'L', is + 1, directory .. 'T', 1)
		return '1'
	end
	return '0'
end

-- A head is what is known of a host, see frontier.go.
local names = {'pending', 'free', 'taken', 'lanes', 'left', 'low', 'later', 'due', 'idle', 'counted', 'at', 'token', 'worker', 'till', 'takes', 'blocked', 'kept', 'passing'}
local numbers = {pending = true, free = true, taken = true, token = true, till = true, takes = true}

local function read(host)
	local head = {host = host}
	local text = call('HGET', HEADS, host)
	local i = 0
	if text then
		for value in string.gmatch(text .. '\n', '([^\n]*)\n') do
			i = i + 1
			local name = names[i]
			head[name] = numbers[name] and tonumber(value) or value
		end
		return head
	end
	for _, name in ipairs(names) do head[name] = numbers[name] and 0 or '' end
	return head
end

-- Lanes are the priorities and depths of which URLs are queued, as sorted numbers.
local function first(head)
	local lane, left = tonumber(string.match(head.lanes, '^[^,]+') or ''), tonumber(head.left)
	if lane and left then return math.min(lane, left) end
	return lane or left or 0
end

local function addLane(head, lane)
	local lanes, added = {}, false
	for other in string.gmatch(head.lanes, '[^,]+') do
		if other == lane then return end
		if not added and tonumber(lane) < tonumber(other) then
			lanes[#lanes + 1], added = lane, true
		end
		lanes[#lanes + 1] = other
	end
	if not added then lanes[#lanes + 1] = lane end
	head.lanes = table.concat(lanes, ',')
end

local function removeLane(head, lane)
	local lanes = {}
	for other in string.gmatch(head.lanes, '[^,]+') do
		if other ~= lane then lanes[#lanes + 1] = other end
	end
	head.lanes = table.concat(lanes, ',')
end

-- micros is a time in microseconds. Times are nanoseconds in 19 digits, so that their
-- order is that of their texts.
local zero = '0000000000000000000'
local function micros(time) return tonumber(string.sub(time, 1, 16)) or 0 end
local function latest(a, b) if a > b then return a end return b end

-- due is when a host may be asked for a URL; nil: it has none.
local function due(head)
	local rest = head.due == '' and zero or head.due
	if head.free > 0 then return rest end
	if head.later ~= '' then return latest(rest, head.later) end
end

-- save writes a head, and puts its host where it belongs: among those that are held, may
-- be asked, or are to be left alone.
local function save(head, time)
	local held, at = head.token ~= 0, ''
	local when = due(head)
	if held then
		at = 'c'
	elseif when and head.free > 0 and micros(when) <= time then
		at = 'r' .. when
	elseif when then
		at = 'w' .. when
	end
	local was = string.sub(head.at, 1, 1)
	if head.at ~= at then
		if was == 'c' then call('ZREM', HELD, head.host) end
		if was == 'r' then call('ZREM', READY, string.sub(head.at, 2) .. head.host) end
		if was == 'w' then call('ZREM', RESTING, head.host) end
		head.at = at
	end
	local is = string.sub(at, 1, 1)
	if is == 'c' then call('ZADD', HELD, int(head.till), head.host) end
	if is == 'r' then call('ZADD', READY, int(first(head)), when .. head.host) end
	if is == 'w' then call('ZADD', RESTING, int(micros(when)), head.host) end
	local counted = (not held and head.free > 0 and head.idle ~= '1') and '1' or ''
	if counted ~= head.counted then
		bump('w', counted == '1' and 1 or -1)
		head.counted = counted
	end
	if at == '' and head.pending == 0 and head.kept == '' and head.passing == '' then
		call('HDEL', HEADS, head.host)
		return
	end
	local values = {}
	for i, name in ipairs(names) do values[i] = numbers[name] and int(head[name]) or head[name] end
	call('HSET', HEADS, head.host, table.concat(values, '\n'))
end

-- holds says whether a claim has not ended.
local function holds(head, worker, token, time)
	return head.token ~= 0 and head.token == tonumber(token) and head.worker == worker and head.till > time
end

-- letGo ends a claim. What was taken is free, and left is the first lane of it.
local function letGo(head, left)
	bump('k' .. head.worker, -1)
	if head.taken > 0 then
		if head.left == '' or tonumber(left) < tonumber(head.left) then head.left = left end
		head.free = head.free + head.taken
	end
	head.token, head.worker, head.till, head.taken, head.low = 0, '', 0, 0, ''
end

-- Of what is taken the host's hash knows token, number of its taking, lane and item.
local function taken(value) return string.match(value, '^(%d+)\n(%d+)\n(%-?%d+)\n(.*)$') end

-- leftOf is the first lane of what was taken and is free, or, with its token, of what is
-- held by it; '' if there is none.
local function leftOf(hash, free, token)
	local least
	for _, value in ipairs(call('HVALS', hash)) do
		local by, _, lane = taken(value)
		if (tonumber(by) ~= token) == free and (not least or tonumber(lane) < tonumber(least)) then least = lane end
	end
	return least or ''
end

-- queue puts an item into a lane, or, if it is due later, among those.
local function queue(head, key, lane, later, item)
	if later == '' then
		if call('RPUSH', key, item) == 1 then addLane(head, lane) end
		head.free = head.free + 1
		return
	end
	call('ZADD', key, int(micros(later)), table.concat({later, lane, item}, '\n'))
	if head.later == '' or later < head.later then head.later = later end
end

-- discover makes URLs pending that are wanted: new ones, with mode 'n', or any that are not
-- pending, with mode 'q'; or notes those never heard of as outside, with mode 'o'. Each has three keys, its bucket,
-- the one that is split into it, and where it is queued; and six arguments.
local function discover(keys, args, splitting, heads, time)
	local found = 0
	while args + 5 <= #ARGV do
		local mode, host, lane, later, field, item = ARGV[args], ARGV[args + 1], ARGV[args + 2], ARGV[args + 3], ARGV[args + 4], ARGV[args + 5]
		local bucket = home(splitting, KEYS[keys], KEYS[keys + 1])
		local known = call('HGET', bucket, field)
		local state = known and known % 8 or 0
		if mode == 'o' then
			if not known then
				call('HSET', bucket, field, 7)
				call('RPUSH', KEYS[keys + 2], item)
				bump('UN', 1)
				bump('c7', 1)
			end
		elseif state == 0 or state == 7 or mode == 'q' and state ~= 1 then
			call('HSET', bucket, field, int((known or 0) - state + 1))
			if not known then bump('UN', 1) end
			if state ~= 0 then bump('c' .. state, -1) end
			bump('c1', 1)
			local head = heads[host] or read(host)
			heads[host] = head
			head.pending = head.pending + 1
			queue(head, KEYS[keys + 2], lane, later, item)
			found = found + 1
		end
		keys, args = keys + 3, args + 6
	end
	return found
end

local function saveAll(heads, time)
	for _, head in pairs(heads) do save(head, time) end
end

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
