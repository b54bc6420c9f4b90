package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"skink/crawler/learn"
	"skink/internal/harmless"
	"skink/store"
)

// Learned lists what a crawl learned about a host, as far as an owner or a user may want to act on
// it.
type Learned struct {
	Host      string        `json:"host"`
	Saved     int64         `json:"saved"`               // how many URLs were not fetched because of it
	Postponed []Postponed   `json:"postponed,omitempty"` // by URL pattern, most URLs first
	Soft      []LearnedSoft `json:"soft_404,omitempty"`  // URL patterns for which the host answers status 200 although the URL does not exist
}

// A LearnedSoft tells a site's owner that the host answers status 200 to some URLs that do not
// exist, instead of 404. All these URLs have one pattern.
type LearnedSoft struct {
	Probe string `json:"probe"` // a URL that cannot exist, to which the host sent a page all the same
	Pages int64  `json:"pages"` // how many crawled pages have the text that the probe was answered with
}

// LearnedOf reads from s what the crawl learned about host.
func LearnedOf(ctx context.Context, s store.Reader, host string) (Learned, error) {
	postponed, err := PostponedIn(ctx, s, host)
	if err != nil {
		return Learned{}, err
	}
	return learnedOf(ctx, s, host, postponed)
}

func learnedOf(ctx context.Context, s store.Reader, host string, postponed []Postponed) (Learned, error) {
	l := Learned{Host: host, Postponed: postponed}
	for _, p := range postponed {
		l.Saved += p.URLs
	}
	site, err := learn.Read(ctx, s, host)
	if err != nil || site == nil {
		return l, err
	}
	for _, soft := range site.Soft404() {
		l.Soft = append(l.Soft, LearnedSoft{soft.Probe, soft.Pages})
	}
	return l, nil
}

// says reports whether l contains anything to tell.
func (l *Learned) says() bool {
	return len(l.Postponed) > 0 || len(l.Soft) > 0
}

// Learned returns what the crawl learned about each of hosts, those with the most postponed URLs
// first. It leaves out hosts about which it learned nothing.
func (src stored) Learned(ctx context.Context, hosts []Host) (all []Learned, err error) {
	waiting, err := PostponedIn(ctx, src.s, "")
	if err != nil {
		return nil, err
	}
	byHost := map[string][]Postponed{}
	for _, p := range waiting {
		byHost[p.Host] = append(byHost[p.Host], p)
	}
	for _, h := range hosts {
		l, err := learnedOf(ctx, src.s, h.Host, byHost[h.Host])
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

// patternsText is how many URL patterns the text format shows of each host.
const patternsText = 10

// lines returns l as lines for people, with at most the given number of URL patterns.
func (l *Learned) lines(most int) (lines []line) {
	say := func(n int64, format string, args ...any) {
		lines = append(lines, line{N: n, Text: harmless.Line(fmt.Sprintf(format, args...))})
	}
	shown := l.Postponed[:min(len(l.Postponed), most)]
	for _, p := range shown {
		say(p.URLs, "%s; such as %s", p.Why(), p.Example)
	}
	if rest := len(l.Postponed) - len(shown); rest > 0 {
		say(0, "and %s", Counted(rest, "more pattern"))
	}
	for _, soft := range l.Soft[:min(len(l.Soft), most)] {
		say(0, "soft 404: it answers missing pages with status 200, such as %s; %s had the same answer", soft.Probe, Counted(soft.Pages, "page"))
	}
	return lines
}

// postponed says in words that n URLs are postponed.
func postponed(n int64) string {
	if n == 0 {
		return "no URL postponed"
	}
	return Counted(n, "URL") + " postponed; fetch them with --budget off"
}

// WriteLearned writes l as text for people.
func WriteLearned(w io.Writer, l Learned) error {
	out := bufio.NewWriter(w)
	said := "nothing"
	if l.says() {
		said = postponed(l.Saved)
	}
	writeLines(out, "learned about "+hostName(l.Host)+": "+said, l.lines(patternsText))
	return out.Flush()
}
