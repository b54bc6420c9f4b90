-- Notes where a page is, posts it, and writes it if nothing stands in its way: KEYS three of each list,
-- where the record of its leader is, three for locate, then those of finish.lua; ARGV the posting, how
-- many lists there are, the field of the leader's record, "" if it follows none, four for locate, of
-- which the first is "" if it is known where the page is, five of each list, then those of finish.lua.
--
-- If something does, the answer is 'posted'. Else it is that of finish.lua, which stands behind this,
-- and says also what append and locate do.
local lists, leader = tonumber(ARGV[2]), ARGV[3]
KEY0, ARG0 = lists * 3 + 4, lists * 5 + 7
before = function()
	local noted, clear = {'ok', 0, '0'}
	if ARGV[4] ~= '' then noted = locate(KEYS[KEY0 - 2], KEYS[KEY0 - 1], KEYS[KEY0], unpack(ARGV, 4, 7)) end
	if noted[1] ~= 'ok' then return false end
	said, clear = append(lists, 7)
	said[lists + 1] = noted[3]
	return clear and (leader == '' or call('HEXISTS', KEYS[KEY0 - 3], leader) == 1)
end
