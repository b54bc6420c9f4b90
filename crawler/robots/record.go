package robots

import "strings"

// names are the supported records, with common misspellings. The spellings of user-agent, disallow
// and sitemap are those that Google's parser accepts (github.com/google/robotstxt, robots.cc),
// which has seen more files than any other. Those of crawl-delay follow its example.
//
// Google's parser compares only the beginning of a name, so that "disallowed" is accepted too. We
// do so for the names where longer is true. Allow has no other spelling here, and needs its colon.
// Ignoring a rule only costs pages, while a rule that allows more than the site owner meant harms
// the owner.
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
	{"content-signal", []string{"content-signal"}, false, false},
	{"sitemap", []string{"sitemap", "site-map"}, true, true},
}

// record parses a line without its comment. It returns the name of the record, or "" if it is none
// of names, and its value, both without surrounding blanks. A line of two words without a colon
// after the first is a record too. Its path may contain a colon ("disallow /a:b"), so this form is
// tried first.
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

// nameOf returns the name of the record that a word before a colon, or before a blank, stands for,
// or "".
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
