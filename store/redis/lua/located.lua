-- locate writes in which partition a page is, unless that is known. sums, own and parent are keys: the
-- sums of the directory's partition, the page's bucket and the one that is split into it. It answers as
-- scripts about directories do. What is in the directory is counted by one field in eight.
local function locate(sums, own, parent, bits, splitting, field, partition)
	local is = call('HMGET', sums, 'IL', 'IT')
	local now_bits, now_splitting = is[1] or '0', is[2] or '0'
	if now_bits ~= bits or now_splitting ~= splitting then return {'level', now_bits, now_splitting} end
	if splitting == '1' and call('EXISTS', parent) == 1 then own = parent end
	if call('HSETNX', own, field, partition) == 0 or string.byte(field) % 8 > 0 then return {'ok', 0, '0'} end
	if call('HINCRBY', sums, 'IN', 8) <= 100 * 2 ^ bits or splitting == '1' or tonumber(bits) == 24 then return {'ok', 0, '0'} end
	call('HSET', sums, 'IL', bits + 1, 'IT', 1, 'IS', 0)
	return {'ok', 0, '1'}
end
