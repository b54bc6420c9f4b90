package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"skink/crawler/learn"
	"skink/internal/harmless"
	"skink/store"
)

// Learned is what a crawl learned of a host, as far as somebody may want to act on it.
type Learned struct {
	Host       string             `json:"host"`
	Saved      int64              `json:"saved"`                // fetches
	Rules      []LearnedRule      `json:"rules,omitempty"`      // most URLs first
	Patterns   []LearnedPattern   `json:"patterns,omitempty"`   // that were put last, most URLs first
	Parameters []LearnedParameter `json:"parameters,omitempty"` // that never change a page
	MirrorOf   string             `json:"mirror_of,omitempty"`  // the host that has the same pages under the same paths
	Share      float64            `json:"share,omitempty"`      // of this host's pages that are copies of them
	Soft       *LearnedSoft       `json:"soft_404,omitempty"`   // nil: what does not exist has an error status there, as far as is known
}

// A LearnedSoft says that a host answers URLs that do not exist as if they did: advice to the
// site's owner.
type LearnedSoft struct {
	Probe string `json:"probe"` // a URL that cannot exist, and was answered with a page
	Pages int64  `json:"pages"` // that say the same as the answer
}

// A LearnedRule says how many URLs were not fetched, or written otherwise, for one rule.
type LearnedRule struct {
	Rule    string `json:"rule"`
	URLs    int64  `json:"urls"`
	Example string `json:"example"`
}

// A LearnedPattern is a pattern of URLs that led to copies.
type LearnedPattern struct {
	Pattern string `json:"pattern"`
	Last    int64  `json:"put_last"` // URLs
	Copies  int64  `json:"copies"`   // of those fetched
	Unique  int64  `json:"unique"`   // the same
}

// A LearnedParameter is a parameter that never changed a page: advice to the site's owner.
type LearnedParameter struct {
	Name    string `json:"name"`
	Pages   int64  `json:"pages"` // that were the same with and without it, or with other values
	Example string `json:"example"`
}

// LearnedOf makes of what a store knows of a host what a report says.
func LearnedOf(ctx context.Context, s store.Reader, host string) (Learned, error) {
	l := Learned{Host: host}
	site, err := learn.Read(ctx, s, host)
	if err != nil || site == nil {
		return l, err
	}
	for rule, c := range site.Rules {
		l.Rules = append(l.Rules, LearnedRule{string(rule), c.URLs, c.Example})
		l.Saved += c.URLs
	}
	slices.SortFunc(l.Rules, func(a, b LearnedRule) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Rule, b.Rule)) })
	for shape, p := range site.Patterns {
		if p.Last > 0 {
			l.Patterns = append(l.Patterns, LearnedPattern{shape, p.Last, p.Copies, p.Unique})
		}
	}
	slices.SortFunc(l.Patterns, func(a, b LearnedPattern) int {
		return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Pattern, b.Pattern))
	})
	useless := site.Useless()
	for _, name := range slices.Sorted(maps.Keys(useless)) {
		l.Parameters = append(l.Parameters, LearnedParameter{name, useless[name].Same, useless[name].Example})
	}
	l.MirrorOf, l.Share = site.MirrorOf(func(host string) *learn.Host {
		other, failed := learn.Read(ctx, s, host)
		err = cmp.Or(err, failed)
		return other
	})
	if site.Soft.Says() {
		l.Soft = &LearnedSoft{site.Soft.Probe, site.Soft.Pages}
	}
	return l, err
}

// says says whether there is anything to tell.
func (l *Learned) says() bool {
	return len(l.Rules)+len(l.Parameters) > 0 || l.MirrorOf != "" || l.Soft != nil
}

// Learned tells what was learned of hosts, most fetches saved first.
func (src stored) Learned(ctx context.Context, hosts []Host) (all []Learned, err error) {
	for _, h := range hosts {
		l, err := LearnedOf(ctx, src.s, h.Host)
		if err != nil {
			return nil, err
		}
		if l.says() {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b Learned) int { return cmp.Compare(b.Saved, a.Saved) })
	return all, nil
}

// patternsText is how many patterns of a host the text form shows.
const patternsText = 10

// A learnedLine says one thing that was learned of a host.
type learnedLine struct {
	N    int64 // URLs that it is about; 0: it is about the host, or about a parameter
	Text string
}

// lines are what was learned, for a person to read: with most patterns at most.
func (l *Learned) lines(most int) (lines []learnedLine) {
	say := func(n int64, format string, args ...any) {
		lines = append(lines, learnedLine{n, harmless.Line(fmt.Sprintf(format, args...))})
	}
	for _, r := range l.Rules {
		say(r.URLs, "%s, such as %s", r.Rule, r.Example)
	}
	shown := l.Patterns[:min(len(l.Patterns), most)]
	for _, p := range shown {
		say(p.Last, "put last like %s: of %s fetched %s were copies", p.Pattern, Grouped(p.Copies+p.Unique), Grouped(p.Copies))
	}
	if rest := len(l.Patterns) - len(shown); rest > 0 {
		say(0, "and %s", Counted(rest, "more pattern"))
	}
	for _, p := range l.Parameters {
		say(0, "parameter %s changes nothing: %s the same without it or with another value, such as %s", p.Name, Counted(p.Pages, "page"), p.Example)
	}
	if l.MirrorOf != "" {
		say(0, "mirror of %s: %.0f %% of its pages are copies of those under the same paths there", l.MirrorOf, 100*l.Share)
	}
	if l.Soft != nil {
		say(0, "soft 404: it answers URLs that do not exist with status 200, such as %s; %s said the same", l.Soft.Probe, Counted(l.Soft.Pages, "page"))
	}
	return lines
}

// spared says how many fetches were.
func spared(n int64) string {
	if n == 1 {
		return "1 fetch spared"
	}
	return Grouped(n) + " fetches spared"
}

// WriteLearned writes what was learned of a host for a person to read.
func WriteLearned(w io.Writer, l Learned) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "learned of %s: ", hostName(l.Host))
	if !l.says() {
		fmt.Fprintln(out, "nothing that spares a fetch")
		return out.Flush()
	}
	fmt.Fprintln(out, spared(l.Saved))
	for _, line := range l.lines(patternsText) {
		if line.N > 0 {
			fmt.Fprintf(out, "  %9s", Grouped(line.N))
		}
		fmt.Fprintf(out, "  %s\n", line.Text)
	}
	return out.Flush()
}
