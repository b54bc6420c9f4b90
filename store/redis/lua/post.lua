-- Puts a posting at the end of lists, and answers with what stands before it: KEYS three of each list;
-- ARGV the posting, then five of each list. The answer is that of append.
return (append(#KEYS / 3, 1))
