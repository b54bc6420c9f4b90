package crawler

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// robots.txt, by RFC 9309
//
// A file is a list of groups: some user-agent lines, then the rules for those
// they name. All groups that name one product token are read as one group, and
// the groups for "*" count only for agents that no group names (2.2.1). Of the
// rules that match a URL the longest wins, and Allow where two are equal
// (2.2.2; robots_match.go says what matches). No group, no rule, no match: the
// URL is allowed.
//
// Where the RFC leaves room:
//
//   - A line that is not user-agent, allow or disallow never ends a group, as
//     2.2.4 asks: a user-agent line after "Crawl-delay: 5" still belongs to the
//     group above it. Many files are written as if it did not; the RFC, and
//     with it the large crawlers, read them this way.
//   - Lines that break the grammar are passed over and the rest is used (2.3.1.5).
//     A user-agent line that names nobody still begins a group, so that its
//     rules do not fall to the agents above.
//   - A product token has no digits in the RFC. Names in use do, so they may.
//     What follows the token ("/1.0") is passed over.
//   - Paths may start with "*", as in the RFC's own example 5.1. One that starts
//     with neither "/" nor "*" matches nothing.
//   - What is often mistyped is taken as it was meant, where that makes the crawl
//     more polite; robotsNames says what.
//   - Crawl-delay is in no RFC. It is read because sites mean it: in seconds,
//     the longest where there are several.
//
// What the RFC permits and is not done: to guess at encodings other than UTF-8
// (2.2.2), to go by Cache-Control (2.4), and to take a file that was out of reach
// for thirty days for missing (2.3.1.4): nothing is fetched until it is there.

// maxRobotsBytes is how much of a file is read: the least that 2.5 allows. A
// line that is cut there is left out.
const maxRobotsBytes = 500 << 10

// maxRobotsDelay is the longest delay that is told apart: enough to see that a
// site wants no crawler. What to do then is the scheduler's decision.
const maxRobotsDelay = 24 * time.Hour

// Robots is what a site says in its robots.txt. The zero value allows all.
// It does not change, and may be used by several goroutines.
type Robots struct {
	groups   map[string][]*robotsGroup // by product token in lower case
	sitemaps []string
	size     int // rules in all groups
}

// robotsGroup is the rules below one run of user-agent lines.
type robotsGroup struct {
	rules []robotsRule // the longest first, Allow before Disallow
	delay time.Duration
}

// ParseRobots reads a robots.txt. There is no file without a meaning: what
// cannot be read says nothing.
func ParseRobots(body []byte) *Robots {
	r := &Robots{groups: make(map[string][]*robotsGroup)}
	var all []*robotsGroup
	var group *robotsGroup // the last of them
	started := false       // group has had a rule: the next user-agent begins another
	for name, value := range robotsLines(body) {
		switch name {
		case "user-agent":
			if group == nil || started {
				group, started = &robotsGroup{}, false
				all = append(all, group)
			}
			r.name(group, robotsToken(value))
		case "allow", "disallow":
			started = true
			if group != nil && value != "" {
				group.rules = append(group.rules, newRobotsRule(name == "allow", value))
				r.size++
			}
		case "crawl-delay":
			if group != nil {
				group.delay = max(group.delay, robotsDelay(value))
			}
		case "sitemap":
			if value != "" {
				r.sitemaps = append(r.sitemaps, strings.Clone(value))
			}
		}
	}
	for _, g := range all {
		slices.SortFunc(g.rules, func(a, b robotsRule) int {
			return cmp.Or(b.octets-a.octets, robotsAllowFirst(a.allow, b.allow))
		})
	}
	return r
}

// name files a group under a token. A file that names one agent 30,000 times
// must not have its rules read as often, so a group is filed there once.
func (r *Robots) name(group *robotsGroup, token string) {
	if groups := r.groups[token]; len(groups) == 0 || groups[len(groups)-1] != group {
		r.groups[token] = append(groups, group)
	}
}

func robotsAllowFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// robotsLines yields the records of a file, without comments. CR, LF and CRLF end
// a line; an empty line means nothing.
func robotsLines(body []byte) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		text := strings.TrimPrefix(cutRobots(body), "\ufeff")
		for text != "" {
			line := text
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, text = text[:end], text[end+1:]
			} else {
				text = ""
			}
			line, _, _ = strings.Cut(line, "#")
			if name, value := robotsRecord(line); name != "" && !yield(name, value) {
				return
			}
		}
	}
}

// cutRobots returns the whole lines among the first maxRobotsBytes.
func cutRobots(body []byte) string {
	if len(body) <= maxRobotsBytes {
		return string(body)
	}
	text := string(body[:maxRobotsBytes+1]) // one more, in case that one ends the line
	return text[:strings.LastIndexAny(text, "\r\n")+1]
}

func robotsDelay(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, maxRobotsDelay.Seconds()) * float64(time.Second))
}

// robotsToken returns the product token that a user-agent line or the name of a
// crawler starts with, in lower case, or "*", or "" where it starts with none.
func robotsToken(s string) string {
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

// ProductToken returns the name, in lower case, by which robots.txt and pages call
// the crawler of a User-Agent header, also of one dressed as a browser:
// "Mozilla/5.0 (compatible; skink/1.0)" is skink.
func ProductToken(agent string) string {
	token := robotsToken(agent)
	if token != "mozilla" {
		return token
	}
	_, product, _ := strings.Cut(agent, "compatible;")
	return cmp.Or(robotsToken(product), token)
}

// groupsOf returns the groups that an agent obeys: those that name it, else
// those for everyone. A group that names it and has no rules is one (2.1).
func (r *Robots) groupsOf(agent string) []*robotsGroup {
	if token := ProductToken(agent); token != "" {
		if groups, ok := r.groups[token]; ok {
			return groups
		}
	}
	return r.groups["*"]
}

// Allowed says whether agent may fetch rawURL, an absolute URL on the site that
// the robots.txt is of. agent is a product token such as "skink" or a whole
// User-Agent header that starts with one. /robots.txt itself is always allowed.
//
// The time is bounded by the URL's length times the number of the agent's
// rules; a wildcard costs no more than a letter.
func (r *Robots) Allowed(agent, rawURL string) bool {
	target := newRobotsTarget(rawURL)
	if target.octets == "/robots.txt" {
		return true
	}
	allowed, longest := true, -1
	for _, group := range r.groupsOf(agent) {
		for _, rule := range group.rules {
			if rule.octets < longest || rule.octets == longest && allowed {
				break
			}
			if rule.matches(target) {
				allowed, longest = rule.allow, rule.octets
				break
			}
		}
	}
	return allowed
}

// CrawlDelay is how long the site asks agent to wait between two requests; 0 if
// it does not say. At most 24 hours.
func (r *Robots) CrawlDelay(agent string) time.Duration {
	var delay time.Duration
	for _, group := range r.groupsOf(agent) {
		delay = max(delay, group.delay)
	}
	return delay
}

// Sitemaps are the values of the sitemap lines, whoever they stand below, in
// the order and the form in which they were written.
func (r *Robots) Sitemaps() []string { return slices.Clone(r.sitemaps) }
