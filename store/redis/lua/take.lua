-- URLs of a held host are taken: KEYS h r w c s, what is taken, then lanes; ARGV host, worker,
-- token, how many, then the numbers of the lanes named. Answers with 'ok', the last of the
-- numbers given to them as visits, and the items; or 'lost'; or 'lanes', if there are others
-- than those named; or 'ripe', if some came due that are to be queued first.
local time = now()
local head = read(ARGV[1])
if not holds(head, ARGV[2], ARGV[3], time) then return {'lost'} end
if head.later ~= '' and micros(head.later) <= time then return {'ripe'} end

local want, items = tonumber(ARGV[4]), {}
local keys = {}
for i = 5, #ARGV do keys[ARGV[i]] = KEYS[i + 2] end
for lane in string.gmatch(head.lanes, '[^,]+') do
	if not keys[lane] then return {'lanes', head.lanes} end
end

-- What is given is written some hundreds at a time.
local given = {}
local function write()
	if #given > 0 then call('HSET', KEYS[6], unpack(given)) end
	given = {}
end

local function give(by, number, lane, item)
	given[#given + 1], given[#given + 2] = string.sub(item, 1, 8), table.concat({by, number, lane, item}, '\n')
	if #given > 1000 then write() end
	if head.low == '' or tonumber(lane) < tonumber(head.low) then head.low = lane end
	head.free, head.taken = head.free - 1, head.taken + 1
	items[#items + 1] = {item, lane}
end

-- What an earlier holder took and left is first in its lane.
local left
local function leftovers()
	left = {}
	for _, value in ipairs(call('HVALS', KEYS[6])) do
		local by, number, lane, item = taken(value)
		if tonumber(by) ~= head.token then left[#left + 1] = {tonumber(lane), tonumber(number), lane, item} end
	end
	table.sort(left, function(a, b)
		if a[1] ~= b[1] then return a[1] > b[1] end
		return a[2] > b[2]
	end)
end

while #items < want and head.free > 0 do
	local lane = string.match(head.lanes, '^[^,]+')
	if head.left ~= '' and (not lane or tonumber(head.left) <= tonumber(lane)) then
		if not left then leftovers() end
		local one = table.remove(left)
		if one then give(int(head.token), int(one[2]), one[3], one[4]) end
		head.left = #left > 0 and left[#left][3] or ''
	elseif not lane then
		break
	else
		local list = call('LPOP', keys[lane], want - #items) or {}
		for _, item in ipairs(list) do
			head.takes = head.takes + 1
			give(int(head.token), int(head.takes), lane, item)
		end
		if call('EXISTS', keys[lane]) == 0 then removeLane(head, lane) end
	end
end
write()
-- What was counted and is not there is not to be waited for: nobody else would find it either.
local missing = #items < want and head.free > 0
if missing then head.free = 0 end
if #items == 0 and not missing then return {'ok', 0} end
save(head, time)
flush()
if #items == 0 then return {'ok', 0} end
local answer = {'ok', call('HINCRBY', SUMS, 'V', #items)}
for _, one in ipairs(items) do
	answer[#answer + 1] = one[2]
	answer[#answer + 1] = one[1]
end
return answer
