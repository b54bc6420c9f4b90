// Package learn is what a crawl learns about a site from the verdicts of its pages: which
// URLs are traps, which patterns of URLs lead to nothing but copies, which parameters never
// change a page, which host is another under a second name.
//
// A [Host] is asked before a URL is queued ([Host.Clean]) and before it is fetched
// ([Host.Look]), and told what became of it ([Host.Judged]):
//
//	site := learn.NewHost()
//	url = site.Clean(url)
//	if advice := site.Look(url, now); advice.Rule == "" {
//		// fetch it, judge it
//		site.Judged(url, learn.Verdict{Group: leader, Copy: true, Exact: true})
//	}
//
// All that is known is JSON, for whoever crawls the host next. The package is pure: it has
// no clock, and it never drops a URL. What becomes of its advice is the crawler's affair.
//
// What it gets wrong: it knows URLs, not pages. A pattern that led to copies so far may
// have a page of its own tomorrow; that is why patterns are sampled, and why nothing that
// is put last is forgotten.
package learn

import (
	"hash/maphash"
	"strings"
	"time"
)

// A Rule names why a URL is not fetched now, or not as it was written. The words are
// stored and printed: they do not change.
type Rule string

const (
	Repeats   Rule = "repeated path segments"
	Calendar  Rule = "calendar without end"
	Long      Rule = "very long URL"
	Many      Rule = "many parameters"
	Farm      Rule = "link farm"
	Copies    Rule = "pattern of copies"              // sampled, then put last
	Parameter Rule = "parameter that changes nothing" // learned; taken off
	Mirror    Rule = "mirror"                         // only if asked for
	Tracking  Rule = "tracking parameter"             // known; taken off
	Session   Rule = "session id"                     // known by its form; taken off
)

// String is the advice as a record says it.
func (a Advice) String() string {
	if a.Pattern == "" {
		return string(a.Rule)
	}
	return string(a.Rule) + ": " + a.Pattern
}

// OfPattern says whether what a record says is the advice about a pattern of copies.
func OfPattern(detail string) bool { return strings.HasPrefix(detail, string(Copies)) }

// Advice is what to do with a URL. The zero value: fetch it.
type Advice struct {
	Rule    Rule   // why it is to be put last; "": it is not
	Pattern string // of the URL, or the parameter, or the other host: what the rule is about
	Instead string // a URL that has the same page, to be fetched in its place; "": there is none
}

// A Verdict is what became of a page.
type Verdict struct {
	Group  [16]byte // id of the page that leads its copies, its own if it leads
	Leader string   // URL of that page; "": the page leads
	Exact  bool     // it has the leader's words; else it only resembles it
	Links  uint64   // what it leads to on its host, see [Links]

	Thin    bool // it has too few words to be compared
	Changed bool // it had other words at the visit before
	Soft    bool // it is what its host says of URLs that cannot exist, see [Soft]
}

// Copy says whether the page says what another said before, or that there is none.
func (v *Verdict) Copy() bool { return v.Leader != "" || v.Soft }

// A Host is what is known of one host. It is for one goroutine at a time.
type Host struct {
	Pages    int64               `json:"pages"`              // judged
	Plain    int64               `json:"plain,omitempty"`    // of them, by http
	Patterns map[string]*Pattern `json:"patterns,omitempty"` // by shape, see [Shape]
	Params   map[string]*Param   `json:"params,omitempty"`   // by name
	Rules    map[Rule]*Count     `json:"rules,omitempty"`    // what was put last or written otherwise
	Mirrors  map[string]*Share   `json:"mirrors,omitempty"`  // other hosts that have its pages under the same paths

	LastMod *Proofs `json:"lastmod,omitempty"` // of what its sitemaps say of changes; nil: there are none

	Doubt    string   `json:"doubt,omitempty"`    // a URL that gave reason to ask for one that cannot exist; "": there is no reason
	Suspects []string `json:"suspects,omitempty"` // URLs whose pages may say that there is no page, until Soft is known
	Soft     *Soft    `json:"soft_404,omitempty"` // nil: it was not asked

	alike map[[16]byte]int // copies under other paths, by group
	thin  int              // pages
	pairs map[uint64]seen  // see judgeParams
	seed  maphash.Seed
}

// Proofs count how often something that a host says proved right and wrong. What is older counts
// less.
type Proofs struct {
	Right int64 `json:"right"`
	Wrong int64 `json:"wrong"`
}

// A Count is how often a rule was applied.
type Count struct {
	URLs    int64  `json:"urls"`
	Example string `json:"example"` // the first of them
}

// NewHost knows nothing.
func NewHost() *Host {
	return &Host{}
}

// goOn takes over what another has counted of the same host in this process and not kept.
func (h *Host) goOn(other *Host) {
	h.alike, h.thin, h.pairs, h.seed = other.alike, other.thin, other.pairs, other.seed
}

// Look says whether a URL is to be fetched now. That a URL of a bad pattern is fetched as a
// sample is decided here too, so it is asked once for each.
func (h *Host) Look(url string, now time.Time) Advice {
	if clean := h.Clean(url); clean != url {
		return h.applied(url, Advice{Rule: ruleOf(url, clean), Pattern: takenOff(url, clean), Instead: clean})
	}
	if rule := trap(url, now); rule != "" {
		return h.applied(url, Advice{Rule: rule})
	}
	if pattern := h.putLast(url); pattern != "" {
		return h.applied(url, Advice{Rule: Copies, Pattern: pattern})
	}
	return Advice{}
}

// Judged takes in what became of a page.
func (h *Host) Judged(url string, v Verdict) {
	if !v.Soft { // two pages that are not there say nothing of what tells their URLs apart
		h.judgeParams(url, &v)
	}
	h.judgeShape(url, &v)
}

// judgeShape takes in what a page says of URLs like its own, or of its host.
func (h *Host) judgeShape(url string, v *Verdict) {
	h.Pages++
	if isPlain(url) {
		h.Plain++
	}
	switch {
	case v.Soft:
		if h.Soft != nil {
			h.Soft.Pages++
		}
		h.judgePattern(url, v)
	case mirrored(url, v.Leader): // it says something about the hosts, and nothing about the URL
		h.judgeMirror(url, v)
	default:
		h.judgePattern(url, v)
		h.doubt(url, v)
	}
}

// applied counts what a rule was applied to.
func (h *Host) applied(url string, a Advice) Advice {
	h.count(a.Rule, url)
	return a
}

func (h *Host) count(rule Rule, url string) {
	c := h.Rules[rule]
	if c == nil {
		if h.Rules == nil {
			h.Rules = map[Rule]*Count{}
		}
		c = &Count{Example: url}
		h.Rules[rule] = c
	}
	c.URLs++
}
