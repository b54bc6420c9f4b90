-- A bucket becomes two: KEYS h r w c s, the bucket, and the two; ARGV directory, how many bits name
-- the two, and which bucket it is. They are split one after the other, and S counts them: a server
-- that took over may know less than the one that was told of those before this, or nothing of a
-- split. A field goes where the next bit of its first three bytes says.
local is, splitting = level(ARGV[1])
local next = tonumber(call('HGET', SUMS, ARGV[1] .. 'S') or 0)
if not splitting or is ~= tonumber(ARGV[2]) or next ~= tonumber(ARGV[3]) then return 'ok' end
local fields = call('HGETALL', KEYS[6])
for i = 1, #fields, 2 do
	local a, b, c = string.byte(fields[i], 1, 3)
	local bits = (a * 65536 + b * 256 + c) % 2 ^ is
	call('HSET', bits >= 2 ^ (is - 1) and KEYS[8] or KEYS[7], fields[i], fields[i + 1])
end
call('DEL', KEYS[6])
call('HSET', SUMS, ARGV[1] .. 'S', next + 1)
return 'ok'
