-- A bucket becomes two: KEYS h r w c s, the bucket, and the two; ARGV how many bits name
-- the two. A field goes where the next bit of its first three bytes says.
local fields = call('HGETALL', KEYS[6])
for i = 1, #fields, 2 do
	local a, b, c = string.byte(fields[i], 1, 3)
	local bits = (a * 65536 + b * 256 + c) % 2 ^ ARGV[1]
	call('HSET', bits >= 2 ^ (ARGV[1] - 1) and KEYS[8] or KEYS[7], fields[i], fields[i + 1])
end
call('DEL', KEYS[6])
return 'ok'
