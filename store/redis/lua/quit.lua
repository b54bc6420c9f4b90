-- A claim ends, and its host stays as it was: KEYS h r w c s, what is taken; ARGV host, worker,
-- token.
local time = now()
local head = read(ARGV[1])
if not holds(head, ARGV[2], ARGV[3], time) then return 'lost' end
letGo(head, head.taken > 0 and leftOf(KEYS[6], false, head.token) or '')
save(head, time)
flush()
return 'ok'
