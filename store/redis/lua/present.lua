-- A worker asks for hosts: KEYS the workers that did lately; ARGV its name, for how many
-- microseconds it counts. Answers with how many there are, and the time.
local time = now()
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', int(time - ARGV[2]))
call('ZADD', KEYS[1], int(time), ARGV[1])
return {call('ZCARD', KEYS[1]), time}
