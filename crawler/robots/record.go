package robots

import "strings"

// names are the records that are read, with the spellings in which site
// owners write them. Those of user-agent, disallow and sitemap are the ones that
// Google's parser takes (github.com/google/robotstxt, robots.cc), which has seen
// more files than anyone; those of crawl-delay follow its example.
//
// Google's parser takes a name by how it begins, so that "disallowed" is one too.
// We do so for the names where longer is true. Allow has no other spelling here,
// and needs its colon: a rule that is passed over costs pages, while one that opens
// what the owner did not mean to open costs the owner.
var names = []struct {
	name      string
	spellings []string
	longer    bool // what begins with a spelling is the name too
	bare      bool // the colon may be missing
}{
	{"user-agent", []string{"user-agent", "useragent", "user agent"}, true, true},
	{"disallow", []string{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"}, true, true},
	{"allow", []string{"allow"}, false, false},
	{"crawl-delay", []string{"crawl-delay", "crawldelay", "crawl delay"}, false, true},
	{"sitemap", []string{"sitemap", "site-map"}, true, true},
}

// record reads a line without its comment: which record of names it is,
// "" if none, and its value, both without blanks around them. A line of two words
// without a colon after the first is a record too. The path of one that has lost its
// colon may hold another ("disallow /a:b"), so this is tried first.
func record(line string) (name, value string) {
	if words := strings.FieldsFunc(line, isBlank); len(words) == 2 {
		if name := nameOf(words[0], false); name != "" && words[1][0] != ':' {
			return name, words[1]
		}
	}
	name, value, found := strings.Cut(line, ":")
	if !found {
		return "", ""
	}
	return nameOf(strings.Trim(name, " \t"), true), strings.Trim(value, " \t")
}

// nameOf is the record that a word before a colon, or before a blank, stands for;
// "" if it is none.
func nameOf(word string, colon bool) string {
	word = strings.ToLower(word)
	for _, n := range names {
		for _, spelling := range n.spellings {
			rest, ok := strings.CutPrefix(word, spelling)
			exact := rest == ""
			switch {
			case !ok || !colon && !(n.bare && exact):
			case exact, n.longer && !strings.ContainsFunc(rest, isBlank):
				return n.name
			}
		}
	}
	return ""
}

func isBlank(c rune) bool { return c == ' ' || c == '\t' }
