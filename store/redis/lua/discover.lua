-- URLs become pending, or are noted as outside: KEYS h r w c s, then three of each URL;
-- ARGV level, splitting, then six of each URL, see discover.
local time = now()
local wrong = misled('U', ARGV[1], ARGV[2])
if wrong then return wrong end
local heads = {}
local found = discover(6, 3, ARGV[2], heads, time)
saveAll(heads, time)
flush()
return {'ok', found, grow('U', 100)}
