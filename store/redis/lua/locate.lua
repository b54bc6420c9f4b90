-- In which partition a page is: KEYS and ARGV as locate takes them.
return locate(KEYS[1], KEYS[2], KEYS[3], unpack(ARGV))
