-- URLs are discovered. heads.lua and directory.lua stand before this.

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
