// Package learn decides which URLs of a site are worth a fetch now, by what became of those that
// were fetched.
//
// Its promises:
//
//   - A URL is fetched or postponed under its own address. It is never rewritten because of
//     something learned. Only tracking parameters and session ids that are listed by their exact
//     names are taken off links ([Clean]).
//   - A URL is postponed because of what others of its pattern gave, and never because of its form
//     alone. The exception is a list of views that well-known software offers of its pages
//     (views.go).
//   - A decision depends on the URL and on the evidence, and on nothing else. The evidence follows
//     from the records of the pages. So a crawl that was killed decides as it would have.
//   - Nothing is dropped. A postponed URL is fetched in the same run while its pattern gives new
//     texts, and otherwise with --budget off.
//
// The mechanism: the evidence of a pattern (shape.go) is how many of its fetched URLs gave new
// texts, and how many in a row gave only what the host had said before (seen.go). After a row of
// copies its URLs are postponed, but for samples that get rarer while copies continue (pattern.go).
// A sample with a new text ends that at once, and what was postponed comes back (sweep.go). Two
// forms of URLs that have no end need less evidence (trap.go). The idea of mining likely rules and
// validating them by fetches is from Bar-Yossef, Keidar and Schonfeld, "Do Not Crawl in the DUST"
// (WWW 2007); what they rewrite is only postponed here.
//
// A [Host] is asked before a URL is fetched ([Host.Look]), and told what became of it
// ([Host.Judged]):
//
//	site := learn.NewHost()
//	if advice := site.Look(url, now); advice.Rule == "" {
//		// fetch it, judge it
//		site.Judged(url, learn.Verdict{Leader: leader, Exact: true, Text: learn.TextOf(text, words), At: now})
//	}
//
// All that is known is JSON, for whoever crawls the host next. The package is pure: it has no clock.
//
// Known weaknesses: a few new texts behind many copies of one pattern may be postponed, because no
// sample met one of them. Pages without end that always say something new are not recognized, unless
// their URLs have the form of a trap. Redirects, errors and files are no evidence, however many
// there are. A list whose rows are cut elsewhere by the extraction is a new text.
package learn

import (
	"strings"
	"time"
)

// A Rule names why a URL is postponed. The words are stored and printed: they do not change.
type Rule string

const (
	Copies   Rule = "pattern of copies"
	View     Rule = "view of a page" // see views.go
	Calendar Rule = "calendar without end"
	Growing  Rule = "growing path"
	Farm     Rule = "link farm"
	Mirror   Rule = "mirror" // only if asked for
)

// Advice is what to do with a URL. The zero value: fetch it.
type Advice struct {
	Rule    Rule   // why it is to be postponed; "": it is not
	Pattern string // of the URL, or the other host: what the rule is about
}

// String is the advice as a record says it.
func (a Advice) String() string {
	if a.Pattern == "" {
		return string(a.Rule)
	}
	return string(a.Rule) + ": " + a.Pattern
}

// ParseAdvice reads what a record says.
func ParseAdvice(detail string) Advice {
	rule, pattern, _ := strings.Cut(detail, ": ")
	return Advice{Rule(rule), pattern}
}

// A Verdict is what became of a page.
type Verdict struct {
	Group  [16]byte  // id of the page that leads its copies, its own if it leads
	Leader string    // URL of that page; "": the page leads
	Exact  bool      // it has the leader's words; else it only resembles it
	Text   Text      // what it says, see [TextOf] and [Body]; nil: nothing
	Links  Text      // of a page that is too short to be compared: where it leads, see [LinksOf]
	At     time.Time // when it was fetched

	Title   func() uint64 // hash of the title's words that are not in the URL; nil: 0
	File    bool          // it is no text, but an image, a PDF or the like
	Thin    bool          // it has too few words to be compared
	Changed bool          // it had other words at the visit before
	Soft    bool          // it is a soft 404, see [Soft]
}

func (v *Verdict) title() uint64 {
	if v.Title == nil {
		return 0
	}
	return v.Title()
}

// Copy says whether the page says what another said before, or that there is none.
func (v *Verdict) Copy() bool { return v.Leader != "" || v.Soft }

// A Host is what is known of one host. It is for one goroutine at a time.
type Host struct {
	Pages    int64               `json:"pages"`              // judged
	Plain    int64               `json:"plain,omitempty"`    // of them, by http
	Extra    int64               `json:"extra,omitempty"`    // of them, views and URLs that have the form of traps
	New      int64               `json:"new,omitempty"`      // of the others, those that gave new texts
	Last     int64               `json:"last,omitempty"`     // URLs queued as last samples, see sweep.go
	Patterns map[string]*Pattern `json:"patterns,omitempty"` // by name, see [Host.patterns]
	Values   map[string][]string `json:"values,omitempty"`   // of parameters that have few, by path and name
	Said     seen                `json:"said,omitzero"`      // by its pages, and the URLs of these
	Mirrors  map[string]*Share   `json:"mirrors,omitempty"`  // other hosts that have its pages under the same paths

	LastMod *Proofs `json:"lastmod,omitempty"` // of what its sitemaps say of changes; nil: there are none

	Softs   map[string]*Soft `json:"soft_404,omitempty"` // by pattern: what is answered at URLs that cannot exist
	Pending []string         `json:"pending,omitempty"`  // patterns whose probes have no answer yet
	Probes  int              `json:"probes,omitempty"`   // how many patterns have one

	// While these are 0, which they are on most hosts, no URL needs a look at its patterns.
	Rows    int `json:"rows,omitempty"`    // patterns whose last leastRow pages were copies
	Answers int `json:"answers,omitempty"` // patterns of which a probe was answered with a page
}

// Proofs count how often something that a host says proved right and wrong. What is older counts
// less.
type Proofs struct {
	Right int64 `json:"right"`
	Wrong int64 `json:"wrong"`
}

// NewHost knows nothing.
func NewHost() *Host {
	return &Host{}
}

// Brief returns a copy without the hashes of texts.
func (h *Host) Brief() *Host {
	brief := *h
	brief.Said = seen{}
	return &brief
}

// Look says whether a URL is to be fetched now. It changes nothing.
func (h *Host) Look(url string, now time.Time) Advice {
	a, rate := h.decide(url, now)
	if a.Rule == "" || sampled(url, rate) {
		return Advice{}
	}
	return a
}

// decide says what a URL is to be postponed for, and at what rate its pattern is sampled.
func (h *Host) decide(url string, now time.Time) (advice Advice, rate int) {
	a := addressOf(url)
	if name := a.view(); name != "" {
		rate := viewRate
		if p := h.Patterns[name]; p != nil {
			rate = thinner(viewRate, p.fetched(), leastRow)
		}
		return Advice{View, name}, rate
	}
	if t, is := a.trap(now); is {
		p := h.Patterns[t.pattern]
		switch free := max(trapFree, h.New); {
		case p.spent(trapRow):
			return Advice{t.rule, t.pattern}, p.rate(trapRow)
		case h.Extra >= free:
			return Advice{t.rule, t.pattern}, thinner(firstRate, h.Extra, free)
		}
	}
	if pattern, rate := h.spent(a); pattern != "" {
		return Advice{Copies, pattern}, rate
	}
	return Advice{}, 0
}

// Judged takes in what became of a page. A URL teaches once.
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

// count takes in the page of a URL that was not judged before.
func (h *Host) count(a *address, v *Verdict) {
	if !v.File {
		h.Pages++
		if isPlain(a.url) {
			h.Plain++
		}
	}
	if isMirrored(a.url, v.Leader) { // it says something about the hosts, and nothing about the URL
		h.judgeMirror(a.url, v)
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
		return // a file that differs from others is no text, new or old
	case v.Leader != "":
		o = nearText
	}
	h.judgePatterns(a, v, o)
}

// judgePatterns counts a page for the patterns of its URL.
func (h *Host) judgePatterns(a *address, v *Verdict, o outcome) {
	if name := a.view(); name != "" {
		h.Extra++
		h.take(name, o)
		return
	}
	t, isTrap := a.trap(v.At)
	if o != copied && !isTrap {
		h.New++
	}
	h.meetValues(a)
	for name := range h.patterns(a) {
		h.take(name, o)
	}
	if !isTrap {
		return
	}
	h.Extra++
	if o == nearText || t.far && v.Thin {
		o = copied
	}
	h.take(t.pattern, o)
}
