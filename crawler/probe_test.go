package crawler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler/learn"
)

// A doubter is a handler that asks once for a URL that cannot exist, and keeps the result.
type doubter struct {
	*world
	doubted bool
	told    []*Page
}

func (d *doubter) Probe(_ context.Context, url string) (string, error) {
	if d.doubted {
		return "", nil
	}
	d.doubted = true
	return learn.ProbeOf([]string{url}, nil), nil
}

func (d *doubter) Handle(ctx context.Context, p *Page, leads *Leads) error {
	if p.Item.Kind != Probing {
		return d.world.Handle(ctx, p, leads)
	}
	d.told = append(d.told, p)
	return nil
}

// The delay of the host applies to a probe. A probe is not retried and does not become a page,
// whether its host has other URLs or not.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name    string
		pages   int
		robots  string
		status  int
		problem Problem
		asked   int
	}{
		{"answered", 3, "", 200, "", 4},
		{"the last of its host", 1, "", 404, ProblemStatus, 2},
		{"busy", 3, "", 503, ProblemStatus, 4},
		{"forbidden", 2, "User-agent: *\nDisallow: /\nAllow: /0\nAllow: /1", 0, ProblemRobots, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(urls("a.test", c.pages)...)
				w.robots = func(string, int) (int, string, error) { return 200, c.robots, nil }
				probe := learn.ProbeOf([]string{"http://a.test/0"}, nil)
				w.answer = func(url string, _ int) *Page {
					if url == probe && c.status >= 400 {
						return &Page{Status: c.status, Problem: ProblemStatus}
					}
					return nil
				}
				d := &doubter{world: w}
				scope, err := NewScope("any", nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				opt := Options{Parallel: 8, PerHost: 1, Retries: 2, Delay: time.Second, UserAgent: "skink", Grace: time.Second, Scope: scope, Learned: learn.NewBook(nil)}
				if err := w.newCrawl(w.front, opt, d).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				same(t, "pages", w.Pages(), int64(c.pages))
				if len(d.told) != 1 || d.told[0].Item.URL != probe || d.told[0].Problem != c.problem || d.told[0].Status != c.status {
					t.Fatalf("told of %+v", d.told)
				}
				at := w.at("a.test")
				same(t, "requests", len(at), c.asked)
				for i := range at {
					if i > 0 && at[i]-at[i-1] < 0.999999 { // one second, minus a rounding error
						t.Errorf("asked at %v", at)
					}
				}
				if state, err := w.front.State(t.Context(), probe); err != nil || state != 0 {
					t.Errorf("the frontier has %s: %v, %v", probe, state, err)
				}
			})
		})
	}
}
