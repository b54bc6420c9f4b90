// Package robots parses robots.txt according to RFC 9309.
//
// Start with [Parse], and call [Rules.Allowed] for each URL with the name of the crawler
// ([ProductToken] takes it from a User-Agent header). The package is pure: it fetches nothing and
// uses no clock. The crawler decides what a missing file means, how long a file is valid, and how
// often it is fetched.
//
// # How a file is read
//
// A file is a list of groups. Each group has one or more user-agent lines, and then the rules for
// the agents that they name. All groups that name one product token are read as one group. Groups
// for "*" count only for agents that no group names (section 2.2.1). The longest rule that matches
// a URL wins, and Allow wins a tie (2.2.2; match.go defines matching). If no group applies to the
// agent, or no rule matches, the URL is allowed.
//
// The RFC leaves some choices open:
//
//   - Lines with names other than user-agent, allow and disallow never end a group (2.2.4). So a
//     user-agent line after "Crawl-delay: 5" still belongs to the group above. Many files are
//     written as if such a line began a new group, but by the RFC, and for the large crawlers, it
//     does not.
//   - Lines that break the grammar are skipped and the rest is used (2.3.1.5). A user-agent line
//     without a name still begins a group, so that its rules do not apply to the agents above.
//   - In the RFC, a product token has no digits. Some actual names have digits, so this package
//     allows them. Text after the token ("/1.0") is ignored.
//   - Paths may start with "*", as in the RFC's own example 5.1. A path that starts with neither
//     "/" nor "*" matches nothing.
//   - Common mistakes are accepted if this makes the crawl more polite; see names.
//   - Content-Signal is in no RFC; signal.go describes it.
//   - Crawl-delay is in no RFC, but sites use it. The value is in seconds, and the longest delay
//     counts.
//
// A file in UTF-16 is decoded if it has a byte order mark, or zeros between its first two
// characters. The RFC permits guessing other encodings (2.2.2), but this package does not.
package robots

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
)

// MaxBytes is the maximum number of bytes read from a file. It is the smallest limit that RFC 9309,
// section 2.5, allows. A line that exceeds the limit is ignored.
const MaxBytes = 500 << 10

// maxDelay replaces longer delays. It is long enough to show that a site does not want to be
// crawled. The scheduler decides how to react.
const maxDelay = 24 * time.Hour

// Rules are the rules of a site's robots.txt. The zero value allows everything. Rules are
// immutable, and several goroutines may use them.
type Rules struct {
	groups   map[string][]*group // groups of rules by product token in lower case
	signals  signals             // signals outside any group, which apply to all agents
	sitemaps []string
	size     int // number of rules in all groups
}

// group holds the rules after one or more user-agent lines.
type group struct {
	rules   []rule // longest first
	delay   time.Duration
	signals signals
}

// Parse parses a robots.txt. It cannot fail: lines that cannot be parsed are ignored.
func Parse(body []byte) *Rules {
	r := &Rules{groups: make(map[string][]*group)}
	var all []*group
	var last *group  // the last element of all; nil if all is empty
	started := false // last has a rule, so the next user-agent line begins another group
	for name, value := range lines(body) {
		switch name {
		case "user-agent":
			if last == nil || started {
				last, started = &group{}, false
				all = append(all, last)
			}
			// A group that names one agent 30,000 times is added once.
			name := token(value)
			if of := r.groups[name]; len(of) == 0 || of[len(of)-1] != last {
				r.groups[name] = append(of, last)
			}
		case "allow", "disallow":
			started = true
			if last != nil && value != "" {
				last.rules = append(last.rules, newRule(name == "allow", value))
				r.size++
			}
		case "crawl-delay":
			if last != nil {
				last.delay = max(last.delay, delayOf(value))
			}
		case "content-signal":
			if last != nil {
				last.signals.add(value)
			} else {
				r.signals.add(value)
			}
		case "sitemap":
			if value != "" {
				r.sitemaps = append(r.sitemaps, strings.Clone(value))
			}
		}
	}
	for _, g := range all {
		slices.SortFunc(g.rules, func(a, b rule) int { return b.octets - a.octets })
	}
	return r
}

// lines yields the name and value of each supported record of a file, without comments. CR, LF and
// CRLF end a line. Empty lines are ignored.
func lines(body []byte) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		text := strings.TrimPrefix(cut(decoded(body)), "\ufeff")
		for text != "" {
			line := text
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, text = text[:end], text[end+1:]
			} else {
				text = ""
			}
			line, _, _ = strings.Cut(line, "#")
			if name, value := record(line); name != "" && !yield(name, value) {
				return
			}
		}
	}
}

// decoded returns a UTF-16 body as UTF-8, and any other body unchanged.
func decoded(body []byte) []byte {
	var order unicode.Endianness
	switch {
	case len(body) < 2:
		return body
	case body[0] == 0xff && body[1] == 0xfe, body[0] != 0 && body[1] == 0:
		order = unicode.LittleEndian
	case body[0] == 0xfe && body[1] == 0xff, body[0] == 0 && body[1] != 0:
		order = unicode.BigEndian
	default:
		return body
	}
	text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(body[:min(len(body), MaxBytes)])
	if err != nil {
		return body
	}
	if len(body) > MaxBytes { // the last line may be incomplete
		text = text[:bytes.LastIndexAny(text, "\r\n")+1]
	}
	return text
}

// cut returns the complete lines within the first MaxBytes.
func cut(body []byte) string {
	if len(body) <= MaxBytes {
		return string(body)
	}
	text := string(body[:MaxBytes+1]) // one more byte, which may be the line break after the last line
	return text[:strings.LastIndexAny(text, "\r\n")+1]
}

func delayOf(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, maxDelay.Seconds()) * float64(time.Second))
}

// token returns the product token at the start of a user-agent line or of a crawler's name, in
// lower case. It returns "*" for "*", and "" if there is no token.
func token(s string) string {
	s = strings.Trim(s, " \t")
	if s == "*" || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "*\t") {
		return "*"
	}
	end := strings.IndexFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	})
	if end >= 0 {
		s = s[:end]
	}
	return strings.ToLower(s)
}

// ProductToken returns the name, in lower case, that robots.txt and pages use for the crawler with
// this User-Agent header. It also finds the name if the header looks like a browser's: for
// "Mozilla/5.0 (compatible; skink/1.0)" it returns "skink".
func ProductToken(agent string) string {
	name := token(agent)
	if name != "mozilla" {
		return name
	}
	_, product, _ := strings.Cut(agent, "compatible;")
	return cmp.Or(token(product), name)
}

// groupsOf returns the groups that name an agent, or the groups for "*" if there are none. A group
// that names the agent counts even if it has no rules (2.1).
func (r *Rules) groupsOf(agent string) []*group {
	if name := ProductToken(agent); name != "" {
		if groups, ok := r.groups[name]; ok {
			return groups
		}
	}
	return r.groups["*"]
}

// Allowed reports whether agent may fetch rawURL, an absolute URL on the site of the robots.txt.
// The agent is a product token such as "skink", or a whole User-Agent header that contains one.
// /robots.txt itself is always allowed.
//
// The time is proportional to the length of the URL times the number of the agent's rules. A
// wildcard costs no more than a letter.
func (r *Rules) Allowed(agent, rawURL string) bool {
	asked := newTarget(rawURL)
	if asked.octets == "/robots.txt" {
		return true
	}
	allowed, longest := true, -1
	for _, g := range r.groupsOf(agent) {
		for _, rule := range g.rules {
			if rule.octets < longest || rule.octets == longest && allowed {
				break
			}
			if rule.matches(asked) {
				allowed, longest = rule.allow, rule.octets // of two rules of equal length, the one that allows wins
			}
		}
	}
	return allowed
}

// CrawlDelay returns the delay that the site asks agent to keep between two requests, at most 24
// hours, or 0 if there is none.
func (r *Rules) CrawlDelay(agent string) time.Duration {
	var delay time.Duration
	for _, g := range r.groupsOf(agent) {
		delay = max(delay, g.delay)
	}
	return delay
}

// Sitemaps returns the values of all sitemap lines, inside and outside of groups, in the order of
// the file and exactly as written.
func (r *Rules) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// Size returns the total number of rules in all groups. Each rule takes about 100 bytes of memory.
// Size returns 0 for nil Rules.
func (r *Rules) Size() int {
	if r == nil {
		return 0
	}
	return r.size
}
