-- The commit of one entry, see commit.go: KEYS h r w c s, what is taken of the host,
-- order of commits, outbox, content of the visit and of the one that it replaces, voids of
-- both, the URL's bucket and the one that is split into it, then three of each link;
-- ARGV as they are read below, then the changes of the tally, then six of each link. commit.lua may
-- stand before this.
local time = now()
local at = ARG0
local function arg() at = at + 1 return ARGV[at] end
local believed, splitting, host, worker, token, field = arg(), arg(), arg(), arg(), arg(), arg()
local want, kind, n, replaced, expected, order, floor = tonumber(arg()), arg(), tonumber(arg()), tonumber(arg()), arg(), arg(), tonumber(arg())
local record, sketch, text, out, entry, outbox, itself = arg(), arg(), arg(), arg(), arg(), arg(), arg() == '1'
local pages, bytes, changes = tonumber(arg()), tonumber(arg()), tonumber(arg())
local tally = at
local links = at + 2 * changes
local TAKEN, ORDER, OUTBOX, CONTENT = KEYS[KEY0 + 6], KEYS[KEY0 + 7], KEYS[KEY0 + 8], KEYS[KEY0 + 9]
local OLD, VOID, GONE, BUCKET = KEYS[KEY0 + 10], KEYS[KEY0 + 11], KEYS[KEY0 + 12], KEYS[KEY0 + 13]

local heads = {}
if token ~= '' then
	local head = read(host)
	if not holds(head, worker, token, time) then return {'lost'} end
	heads[host] = head
end
local names = {'UL', 'UT', 'UN', 'P', 'c1', 'c7', 'c' .. want}
for i = tally + 1, links, 2 do names[#names + 1] = ARGV[i] end
recall(unpack(names))
local wrong = misled('U', believed, splitting)
if wrong then return wrong end
BUCKET = home(splitting, BUCKET, KEYS[KEY0 + 14])
local known = call('HGET', BUCKET, field)
local state = known and known % 8 or 0
local has = known and (known - state) / 8 or 0
if n ~= 0 and has == n then -- it was answered before, and nobody heard
	return {'written', string.sub(call('HGET', CONTENT, int(n)), 1, 16), '0', '0'}
end
local keeps = has ~= 0 and kind == ''
local touches = has ~= 0 and kind == 'touch'
if not keeps then
	if not touches and (call('EXISTS', VOID) == 1 or call('HEXISTS', CONTENT, int(n)) == 1) then
		return {'void'} -- or another page has the number: a primary that gave it is dead, and the next did not know
	end
	if has ~= replaced or has ~= 0 and call('HGET', OLD, int(has)) ~= expected then return {'changed'} end
end

if before and not keeps then
	local full = before()
	if full then return {'posted', full} end
end
discover(KEY0 + 15, links + 1, splitting, heads, time)
for i = links + 5, #ARGV, 6 do
	if ARGV[i] == field then -- a page may lead to itself
		known = call('HGET', BUCKET, field)
		state = known and known % 8 or 0
	end
end

-- untake takes the URL out of what is taken of its host, and says whether it was there.
local function untake()
	local value = call('HGET', TAKEN, field)
	if not value then return false end
	local head = heads[host] or read(host)
	heads[host] = head
	call('HDEL', TAKEN, field)
	if tonumber((taken(value))) == head.token then
		head.taken = head.taken - 1
	else
		head.free = head.free - 1
		head.left = leftOf(TAKEN, true, head.token)
	end
	return true
end

local drop = '0'
if want ~= 0 and itself and (state == 0 or state == 7) then
	if state == 7 then bump('c7', -1) end
	bump('c' .. want, 1)
	state = want
elseif want ~= 0 and state == 1 then
	local head = heads[host] or read(host)
	heads[host] = head
	head.pending = head.pending - 1
	if not untake() then drop = '1' end
	bump('c1', -1)
	bump('c' .. want, 1)
	state = want
elseif want ~= 0 then
	untake() -- it had ended, was queued still, and would be taken for ever
end

local function count()
	for i = tally + 1, links, 2 do bump(ARGV[i], tonumber(ARGV[i + 1])) end
end

if token ~= '' and not keeps then
	heads[host].pages, heads[host].bytes = heads[host].pages + pages, heads[host].bytes + bytes
end

local place = 0
if touches then
	call('HSET', OLD, int(has), string.sub(expected, 1, 16) .. record)
	if out ~= '' then call('HSET', OLD, int(has) .. 'o', out) end
	count()
elseif not keeps then
	place = math.max(time, sum('P') + 1, floor + 1)
	bump('P', place - sum('P'))
	if has ~= 0 then
		local old = int(has)
		call('HDEL', OLD, old, old .. 's', old .. 't', old .. 'o')
		call('XDEL', ORDER, order)
		call('SET', GONE, 1, 'EX', 604800)
	end
	local name = int(n)
	local stamp = string.format('%016d', place)
	local values = {name, stamp .. record}
	local function keep(suffix, value)
		values[#values + 1] = name .. suffix
		values[#values + 1] = value
	end
	if sketch ~= '' then keep('s', stamp .. sketch) end
	if text ~= '' then keep('t', text) end
	if out ~= '' then keep('o', out) end
	call('HSET', CONTENT, unpack(values))
	call('XADD', ORDER, int(place) .. '-0', 'v', entry)
	count()
	has = n
end
if outbox ~= '' then call('HSET', OUTBOX, int(n), outbox) end
if has * 8 + state ~= tonumber(known or 0) or not known then
	call('HSET', BUCKET, field, int(has * 8 + state))
	if not known then bump('UN', 1) end
end
saveAll(heads, time)
local more = bumped['UN']
flush()
return {keeps and 'kept' or 'written', int(place), more and grow('U', 100) or '0', drop, said}
