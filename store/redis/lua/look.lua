-- What may be claimed in a partition: KEYS h r w c s o; ARGV how many hosts to name.
local ripe = ripen(now())
flush()
return look(tonumber(ARGV[1]), KEYS[6], ripe)
