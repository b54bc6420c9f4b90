-- A worker comes, stays, or goes: KEYS sessions, runs; ARGV 'join', 'begun', 'stay' or 'leave', its name,
-- microseconds. The first that comes where nobody is begins a run, and says when that has
-- begun. Answers 'begin' to it, 'wait' to those who come meanwhile, else how many others
-- are there.
local t = redis.call('TIME')
local time = t[1] * 1000000 + t[2]
local SESSIONS, RUNS = KEYS[1], KEYS[2]
redis.call('ZREMRANGEBYSCORE', SESSIONS, '-inf', string.format('%.0f', time))
if ARGV[1] == 'leave' then
	redis.call('ZREM', SESSIONS, ARGV[2])
	return 'ok'
end
local alone = redis.call('ZCARD', SESSIONS) == 0
redis.call('ZADD', SESSIONS, string.format('%.0f', time + ARGV[3]), ARGV[2])
if ARGV[1] == 'begun' then
	redis.call('HSET', RUNS, 'beginner', '')
	return 'ok'
end
local beginner = redis.call('HGET', RUNS, 'beginner') or ''
if ARGV[1] == 'stay' and beginner == ARGV[2] then -- it has said that the run has begun, to a server that is dead
	redis.call('HSET', RUNS, 'beginner', '')
	beginner = ''
end
if ARGV[1] == 'join' and (alone or beginner ~= '' and not redis.call('ZSCORE', SESSIONS, beginner)) then
	redis.call('HSET', RUNS, 'beginner', ARGV[2])
	redis.call('HINCRBY', RUNS, 'run', 1)
	return 'begin'
end
if beginner ~= '' and beginner ~= ARGV[2] then return 'wait' end
return string.format('%.0f', redis.call('ZCARD', SESSIONS) - 1)
