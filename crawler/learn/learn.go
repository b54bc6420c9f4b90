// Package learn decides which URLs of a site are worth fetching now, based on the pages that other
// URLs of the site returned.
//
// The package guarantees:
//
//   - A URL is fetched or postponed as it is. It is never rewritten because of something learned.
//     Only tracking parameters and session ids with listed names are removed from links ([Clean]).
//   - A URL is postponed because of the pages of other URLs with its pattern, never because of its
//     form alone. The exceptions are the listed views of pages in well-known software (views.go).
//   - A decision depends only on the URL and on the evidence, and the evidence only on the records
//     of the pages. So a crawl that was killed decides the same way when it resumes.
//   - Nothing is dropped. A postponed URL is fetched in the same run while its pattern gives new
//     text, and otherwise with --budget off.
//
// The evidence about a pattern (shape.go) has two counts: the fetched URLs that gave new text, and
// the copies in a row since the last new text. A copy is a page whose text the host has shown
// before (seen.go). After enough copies in a row, the URLs of the pattern are postponed. Only
// samples are fetched, which get rarer while copies continue (pattern.go). When a sample gives new
// text, the postponed URLs are queued again (sweep.go). For two forms of
// URLs that can go on without end, near duplicates are copies too (trap.go). The idea of mining likely rules and validating them by fetching
// URLs is from Bar-Yossef, Keidar and Schonfeld, "Do Not Crawl in the DUST" (WWW 2007). Their rules
// rewrite URLs; this package only postpones them.
//
// Call [Host.Look] before a URL is fetched, and [Host.Judged] afterwards:
//
//	site := new(learn.Host)
//	if advice := site.Look(url, now); advice.Rule == "" {
//		// fetch it, judge it
//		site.Judged(url, learn.Verdict{Leader: leader, Exact: true, Text: learn.TextOf(text, words), At: now})
//	}
//
// The evidence is stored as JSON, for the next crawl of the host. The package does not read the
// clock.
//
// Known weaknesses: A few pages with new text among many copies of one pattern may be postponed,
// because no sample is one of them. Endless pages that always have new text are not recognized.
// Redirects, errors, and files that are not copies are not evidence, however many there are. A list
// counts as new text when the extraction splits it into different lines than before.
package learn

import (
	"strings"
	"time"
)

// A Rule is the reason why a URL is postponed. The values are stored and printed, so they must not
// change.
type Rule string

const (
	Copies   Rule = "pattern of duplicates"
	View     Rule = "view of a page" // the URL is a view of a page; see views.go
	Calendar Rule = "endless calendar"
	Growing  Rule = "growing path"
)

// Advice says whether to fetch a URL now. The zero value means that the URL should be fetched.
type Advice struct {
	Rule    Rule   // reason why the URL is postponed; "" if the URL should be fetched
	Pattern string // the pattern whose URLs the rule postpones
}

// String returns the advice in its stored form.
func (a Advice) String() string {
	if a.Pattern == "" {
		return string(a.Rule)
	}
	return string(a.Rule) + ": " + a.Pattern
}

// ParseAdvice parses text returned by [Advice.String].
func ParseAdvice(detail string) Advice {
	rule, pattern, _ := strings.Cut(detail, ": ")
	return Advice{Rule(rule), pattern}
}

// A Verdict is the result of comparing a page with others.
type Verdict struct {
	Leader string    // URL of the leader; "" if this page is the leader
	Exact  bool      // whether the page has the same words as its leader; if not, it is a near duplicate
	Text   Text      // hashes of the page's text; nil if the page has no text; see [TextOf] and [Body]
	Links  Text      // hashes of the links of a page that is too short to be compared; see [LinksOf]
	At     time.Time // when the page was fetched

	Title   func() uint64 // returns a hash of the title's words that are not in the URL; nil means 0
	File    bool          // whether the response is an image, a PDF or another file
	Thin    bool          // whether the page has too few words to be compared
	Changed bool          // whether the page had different words at the previous visit
	Soft    bool          // whether the page is an error page with status 200; see [Soft]
	Audit   bool          // whether one page is reason enough for a probe; see [Soft]
}

func (v *Verdict) title() uint64 {
	if v.Title == nil {
		return 0
	}
	return v.Title()
}

// A Host is the evidence about one host. The zero value has none. It is not safe for concurrent use.
type Host struct {
	Pages    int64               `json:"pages"`              // number of pages judged
	New      int64               `json:"new,omitempty"`      // number of pages with new text, not counting views (views.go) and traps (trap.go)
	Last     int64               `json:"last,omitempty"`     // number of URLs queued as last samples; see sweep.go
	Patterns map[string]*Pattern `json:"patterns,omitempty"` // by name; see [Host.patterns]
	Values   map[string][]string `json:"values,omitempty"`   // the values of each parameter, by the shape of the path, a question mark and the name, or of the last segments in a folder, with an empty name; a list of more than fewValues elements means that there are too many
	Said     seen                `json:"said,omitzero"`      // hashes of the lines, links and URLs of the host's pages

	Softs   map[string]*Soft `json:"soft_404,omitempty"` // how the host responds to URLs that cannot exist, by the pattern of these URLs
	Pending []string         `json:"pending,omitempty"`  // patterns whose probe has not been answered yet, or whose pages have not been compared with the answer
	Probes  int              `json:"probes,omitempty"`   // number of patterns that have a probe
}

// Look decides whether to fetch a URL now. It does not change the evidence.
func (h *Host) Look(url string, now time.Time) Advice {
	a, rate := h.decide(url, now)
	if a.Rule == "" || sampled(url, rate) {
		return Advice{}
	}
	return a
}

func (h *Host) decide(url string, now time.Time) (advice Advice, rate int) {
	a := addressOf(url)
	if name := viewOf(a.path, a.query); name != "" {
		rate := viewRate
		if p := h.Patterns[name]; p != nil {
			rate = thinner(viewRate, p.fetched(), minRow)
		}
		return Advice{View, name}, rate
	}
	if t, is := a.trap(now); is {
		if p := h.Patterns[t.pattern]; p.spent() {
			return Advice{t.rule, t.pattern}, p.rate()
		}
	}
	if pattern, rate := h.spent(a); pattern != "" {
		return Advice{Copies, pattern}, rate
	}
	return Advice{}, 0
}

// Judged adds the verdict on the page at url to the evidence. Each URL counts only once.
func (h *Host) Judged(url string, v Verdict) {
	a := addressOf(url)
	if v.Soft {
		if s := h.Softs[a.pattern()]; s != nil {
			s.Pages++
		}
	}
	if !h.Said.takeURL(url) {
		h.count(a, &v)
	}
	if !v.Soft && !v.File && !isMirrored(url, v.Leader) {
		h.doubt(a, &v)
	}
}

func (h *Host) count(a *address, v *Verdict) {
	if !v.File {
		h.Pages++
	}
	if isMirrored(a.url, v.Leader) {
		return
	}
	o, known, leads := newText, false, false
	if !v.Soft {
		known, leads = h.Said.take(v.Text), !h.Said.takeLinks(v.Links)
	}
	switch {
	case v.Soft:
		o = copied
	case v.Exact, known, v.Text == nil:
		if o = copied; leads {
			o = nearText
		}
	case v.File:
		return // a file that differs from others counts neither as new text nor as a copy
	case v.Leader != "":
		o = nearText
	}
	h.judgePatterns(a, v, o)
}

// isMirrored reports whether a page's leader has the same path on another host or under another
// scheme. Such a copy shows that the hosts are mirrors. It is not evidence about other URLs of its
// pattern.
func isMirrored(url, leader string) bool {
	return leader != "" && url != leader && pathOf(url) == pathOf(leader)
}

func (h *Host) judgePatterns(a *address, v *Verdict, o outcome) {
	if name := viewOf(a.path, a.query); name != "" {
		h.take(name, o)
		return
	}
	t, isTrap := a.trap(v.At)
	if o != copied && !isTrap {
		h.New++
	}
	h.meetValues(a)
	for _, name := range h.patterns(a) {
		h.take(name, o)
	}
	if !isTrap {
		return
	}
	if o == nearText || t.far && v.Thin {
		o = copied
	}
	h.take(t.pattern, o)
}
