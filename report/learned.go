package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"skink/base/harmless"
	"skink/crawler/learn"
	"skink/store"
)

// Learned holds a crawl's findings about a host that users may need to act on: URL patterns that
// return duplicates, and soft 404s.
type Learned struct {
	Host      string        `json:"host"`
	Saved     int64         `json:"saved"`               // URLs that were not fetched because their pattern returns duplicates
	Postponed []Postponed   `json:"postponed,omitempty"` // patterns of these URLs, in descending order of URLs
	Soft      []LearnedSoft `json:"soft_404,omitempty"`  // patterns of nonexistent URLs for which the host returns status 200
}

// A LearnedSoft is a finding for the owner of a site: for nonexistent URLs of a pattern, the host
// returns status 200 instead of 404.
type LearnedSoft struct {
	Probe string `json:"probe"` // a URL that cannot exist, but for which the host returned a page
	Pages int64  `json:"pages"` // crawled pages with the same text as the page at Probe; they probably do not exist either
}

// LearnedOf reads a store's findings about a host.
func LearnedOf(ctx context.Context, s store.Reader, host string) (Learned, error) {
	postponed, err := PostponedIn(ctx, s, host)
	if err != nil {
		return Learned{}, err
	}
	return learnedOf(ctx, s, host, postponed)
}

func learnedOf(ctx context.Context, s store.Reader, host string, postponed []Postponed) (Learned, error) {
	l := learnedFrom(host, postponed)
	site, err := learn.Read(ctx, s, host)
	if err != nil || site == nil {
		return l, err
	}
	for _, soft := range site.Soft404() {
		l.Soft = append(l.Soft, LearnedSoft{soft.Probe, soft.Pages})
	}
	return l, nil
}

func learnedFrom(host string, postponed []Postponed) Learned {
	l := Learned{Host: host, Postponed: postponed}
	for _, p := range postponed {
		l.Saved += p.URLs
	}
	return l
}

func (l *Learned) says() bool {
	return len(l.Postponed) > 0 || len(l.Soft) > 0
}

// learnedFor returns the findings about the hosts, and about other hosts with postponed URLs, in
// descending order of postponed URLs.
func learnedFor(ctx context.Context, s store.Reader, hosts []Host, later *postponedCount) (all []Learned, err error) {
	waiting, err := later.list(ctx, s)
	if err != nil {
		return nil, err
	}
	byHost := map[string][]Postponed{}
	for _, p := range waiting {
		byHost[p.Host] = append(byHost[p.Host], p)
	}
	for _, h := range hosts {
		l, err := learnedOf(ctx, s, h.Host, byHost[h.Host])
		if err != nil {
			return nil, err
		}
		if l.says() {
			all = append(all, l)
		}
		delete(byHost, h.Host)
	}
	for _, host := range slices.Sorted(maps.Keys(byHost)) { // hosts without a page, such as most hosts of a link farm
		all = append(all, learnedFrom(host, byHost[host]))
	}
	slices.SortStableFunc(all, func(a, b Learned) int { return cmp.Compare(b.Saved, a.Saved) })
	return all, nil
}

const patternsText = 10

// lines returns at most limit patterns, and at most limit soft 404s.
func (l *Learned) lines(limit int) (lines []line) {
	say := func(n int64, format string, args ...any) {
		lines = append(lines, line{N: n, Text: harmless.Line(fmt.Sprintf(format, args...))})
	}
	shown := l.Postponed[:min(len(l.Postponed), limit)]
	for _, p := range shown {
		say(p.URLs, "%s; for example %s", p.Why(), p.Example)
	}
	if rest := len(l.Postponed) - len(shown); rest > 0 {
		say(0, "and %s", Counted(rest, "more pattern"))
	}
	for _, soft := range l.Soft[:min(len(l.Soft), limit)] {
		say(0, "soft 404: the host returns status 200 for missing pages, such as %s; %s had the same text", soft.Probe, Counted(soft.Pages, "page"))
	}
	return lines
}

// postponed returns text such as "no URLs postponed".
func postponed(n int64) string {
	if n == 0 {
		return "no URLs postponed"
	}
	return Counted(n, "URL") + " postponed; --budget off fetches them"
}

// WriteLearned writes the findings about a host as text.
func WriteLearned(w io.Writer, l Learned) error {
	out := bufio.NewWriter(w)
	said := "nothing"
	if l.says() {
		said = postponed(l.Saved)
	}
	writeLines(out, "learned about "+hostName(l.Host)+": "+said, l.lines(patternsText))
	return out.Flush()
}
