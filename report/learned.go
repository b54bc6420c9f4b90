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

// LearnedOf makes of what is known of a host what a report says.
func LearnedOf(host string, site *learn.Host) Learned {
	l := Learned{Host: host}
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
	l.MirrorOf, l.Share = site.MirrorOf()
	return l
}

// says says whether there is anything to tell.
func (l *Learned) says() bool { return len(l.Rules)+len(l.Parameters) > 0 || l.MirrorOf != "" }

// Learned tells what was learned of hosts, most fetches saved first.
func (src stored) Learned(ctx context.Context, hosts []Host) (all []Learned, err error) {
	for _, h := range hosts {
		site, err := learn.Read(ctx, src.s, h.Host)
		if err != nil {
			return nil, err
		}
		if site == nil {
			continue
		}
		if l := LearnedOf(h.Host, site); l.says() {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b Learned) int { return cmp.Compare(b.Saved, a.Saved) })
	return all, nil
}

// patternsText is how many patterns of a host the text form shows.
const patternsText = 10

// WriteLearned writes what was learned of a host for a person to read.
func WriteLearned(w io.Writer, l Learned) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "learned of %s: ", hostName(l.Host))
	if !l.says() {
		fmt.Fprintln(out, "nothing that spares a fetch")
		return out.Flush()
	}
	fmt.Fprintf(out, "%s fetches spared\n", group(l.Saved))
	for _, r := range l.Rules {
		fmt.Fprintf(out, "  %9s  %s, such as %s\n", group(r.URLs), harmless.Line(r.Rule), harmless.Line(r.Example))
	}
	shown := l.Patterns[:min(len(l.Patterns), patternsText)]
	for _, p := range shown {
		fmt.Fprintf(out, "  %9s  put last like %s: of %s fetched %s were copies\n", group(p.Last), harmless.Line(p.Pattern), group(p.Copies+p.Unique), group(p.Copies))
	}
	if rest := len(l.Patterns) - len(shown); rest > 0 {
		fmt.Fprintf(out, "  and %s\n", count(rest, "more pattern"))
	}
	for _, p := range l.Parameters {
		fmt.Fprintf(out, "  parameter %s changes nothing: %s the same without it or with another value, such as %s\n", harmless.Line(p.Name), count(p.Pages, "page"), harmless.Line(p.Example))
	}
	if l.MirrorOf != "" {
		fmt.Fprintf(out, "  mirror of %s: %.0f %% of its pages are copies of those under the same paths there\n", harmless.Line(l.MirrorOf), 100*l.Share)
	}
	return out.Flush()
}
