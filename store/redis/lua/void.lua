-- Calls a visit off, unless it is in the store.
--
-- KEYS: where its void mark is; where its record would be. ARGV: the field of the record,
-- and for how many seconds the mark is kept. Answers 1 if the visit is in the store, 2 if
-- it never will be.

if call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
	return 1
end
call('SET', KEYS[1], '1', 'EX', ARGV[2])
return 2
