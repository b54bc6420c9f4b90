-- A URL that was taken is queued again: KEYS h r w c s, what is taken, where it is queued;
-- ARGV host, worker, token, lane, when it is due later, field, item.
local time = now()
local head = read(ARGV[1])
if not holds(head, ARGV[2], ARGV[3], time) then return 'lost' end
local value = call('HGET', KEYS[6], ARGV[6])
if not value or tonumber((taken(value))) ~= head.token then return 'ok' end
call('HDEL', KEYS[6], ARGV[6])
head.taken = head.taken - 1
queue(head, KEYS[7], ARGV[4], ARGV[5], ARGV[7])
save(head, time)
flush()
return 'ok'
