-- Hosts, see frontier.go. sums.lua stands before this. Scripts about a partition have these keys first:
-- heads of hosts, those that may be asked, that rest, that are held, and the sums of the partition.

local HEADS, READY, RESTING, HELD = KEYS[KEY0 + 1], KEYS[KEY0 + 2], KEYS[KEY0 + 3], KEYS[KEY0 + 4]

-- A head is what is known of a host, see frontier.go. pages and bytes are what was fetched since its
-- rest was last told: a holder who dies tells none.
local form = '^' .. string.rep('([^\n]*)\n', 19) .. '([^\n]*)$'
local written = '%d\n%d\n%d\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%d\n%s\n%d\n%d\n%s\n%s\n%s\n%d\n%d'

local function read(host)
	local pending, free, taken, lanes, left, low, later, due, idle, counted,
		at, token, worker, till, takes, blocked, kept, passing, pages, bytes =
		string.match(call('HGET', HEADS, host) or '0\n0\n0\n\n\n\n\n\n\n\n\n0\n\n0\n0\n\n\n\n0\n0', form)
	till = tonumber(till)
	return { -- made at once: a table that grows is made five times
		host = host, pending = tonumber(pending), free = tonumber(free), taken = tonumber(taken), lanes = lanes,
		left = left, low = low, later = later, due = due, idle = idle, counted = counted,
		at = at, token = tonumber(token), worker = worker, till = till, held = till, takes = tonumber(takes),
		blocked = blocked, kept = kept, passing = passing, pages = tonumber(pages), bytes = tonumber(bytes),
	}
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
	local was, moved = string.sub(head.at, 1, 1), head.at ~= at
	if moved then
		if was == 'c' then call('ZREM', HELD, head.host) end
		if was == 'r' then call('ZREM', READY, string.sub(head.at, 2) .. head.host) end
		if was == 'w' then call('ZREM', RESTING, head.host) end
		head.at = at
	end
	local is = string.sub(at, 1, 1)
	if is == 'c' and (moved or head.till ~= head.held) then call('ZADD', HELD, int(head.till), head.host) end
	if is == 'r' then call('ZADD', READY, int(first(head)), when .. head.host) end
	if is == 'w' then call('ZADD', RESTING, int(micros(when)), head.host) end
	local counted = (not held and head.free > 0 and head.idle ~= '1') and '1' or ''
	if counted ~= head.counted then
		bump('w', counted == '1' and 1 or -1)
		head.counted = counted
	end
	if at == '' and head.pending == 0 and head.kept == '' and head.passing == '' and head.pages == 0 then
		call('HDEL', HEADS, head.host)
		return
	end
	call('HSET', HEADS, head.host, string.format(written,
		head.pending, head.free, head.taken, head.lanes, head.left, head.low, head.later, head.due, head.idle, head.counted,
		head.at, head.token, head.worker, head.till, head.takes, head.blocked, head.kept, head.passing, head.pages, head.bytes))
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
