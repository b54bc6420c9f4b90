-- A claim ends: KEYS h r w c s, what is taken; ARGV host, worker, token, when it is due, whether
-- it is idle, until when it is blocked, what is kept of its rest, and what ends with a run.
local time = now()
local head = read(ARGV[1])
if not holds(head, ARGV[2], ARGV[3], time) then return 'lost' end
letGo(head, head.taken > 0 and leftOf(KEYS[6], false, head.token) or '')
head.due, head.idle, head.blocked, head.kept, head.passing = ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
head.pages, head.bytes = 0, 0 -- they are in what is kept
save(head, time)
flush()
return 'ok'
