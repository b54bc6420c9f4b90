-- Notes where a page is, posts it, and writes it if nothing stands in its way: KEYS three of each list,
-- where the records of its leader and of its copy are, three for locate, then those of finish.lua; ARGV
-- the posting, how many lists there are, the fields of those two records, "" if it names none, four for
-- locate, of which the first is "" if it is known where the page is, five of each list, then those of
-- finish.lua.
--
-- If something does, the answer is 'posted', and it may be posted or not; behind that stands what
-- locate says, '1' if the directory is to be split. Else it is that of finish.lua, which stands behind
-- this, and says also what append and locate do.
local lists = tonumber(ARGV[2])
KEY0, ARG0 = lists * 3 + 5, lists * 5 + 8
local function is(field, key) return field == '' or call('HEXISTS', key, field) == 1 end
before = function()
	local noted, clear = {'ok', 0, '0'}
	if ARGV[5] ~= '' then noted = locate(KEYS[KEY0 - 2], KEYS[KEY0 - 1], KEYS[KEY0], unpack(ARGV, 5, 8)) end
	if noted[1] ~= 'ok' then return '0' end
	said, clear = append(lists, 8)
	said[lists + 1] = noted[3]
	if not (clear and is(ARGV[3], KEYS[KEY0 - 4]) and is(ARGV[4], KEYS[KEY0 - 3])) then return noted[3] end
end
