package robots

import "strings"

// names are the supported records, with common misspellings. Google's parser, which has read more
// files than any other, accepts the same spellings of user-agent, disallow and sitemap
// (github.com/google/robotstxt, robots.cc). The spellings of crawl-delay follow its example.
//
// Google's parser compares only the beginning of a name, so it also accepts "disallowed". This
// package does the same for the names with longer set. Allow has only one spelling here, and needs
// its colon. If the crawler ignores a misspelled Allow, it only misses pages. If it obeyed a rule
// that allows more than the site's owner meant, it could harm the owner.
var names = []struct {
	name      string
	spellings []string
	longer    bool // a word that begins with one of the spellings counts too
	bare      bool // the colon may be missing
}{
	{"user-agent", []string{"user-agent", "useragent", "user agent"}, true, true},
	{"disallow", []string{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"}, true, true},
	{"allow", []string{"allow"}, false, false},
	{"crawl-delay", []string{"crawl-delay", "crawldelay", "crawl delay"}, false, true},
	{"content-signal", []string{"content-signal"}, false, false},
	{"sitemap", []string{"sitemap", "site-map"}, true, true},
}

// record parses a line without its comment. It returns the name and the value of the record,
// without surrounding blanks. The name is "" if the line is not one of the supported records. A
// line of two words without a colon after the first word is a record too. Its value may contain a
// colon ("disallow /a:b"), so this form is tried first.
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

// nameOf returns the name of the record that begins with word, or "" if there is none. The argument
// colon is true if a colon follows the word.
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
