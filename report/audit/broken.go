package audit

import (
	"cmp"
	"context"

	"skink/crawler/learn"
	"skink/store"
)

// broken lists the URLs that failed, by the kind of failure.
func broken(a *Audit) *List {
	l := &List{
		Name: "broken", Of: "URLs", Linked: true,
		Columns: []Column{
			{"links", "Links", true}, {"reason", "Reason", true}, {"url", "URL", true}, {"detail", "Detail", false},
			{"status", "Status", false}, {"depth", "Clicks", false}, {"tries", "Tries", false}, {"visited", "Visited", false},
		},
		Findings: []*Finding{{Name: "gone"}, {Name: "soft"}, {Name: "refused"}, {Name: "server"}, {Name: "unreachable"}, {Name: "unreadable"}},
	}
	l.see = func(at int32, r *store.Record) {
		if r.Kind == store.Error {
			l.found(brokenHow(r), at, nobody)
		}
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		r := &s.page.Record
		return []any{
			s.links(), text(cmp.Or(r.Problem, "unknown")), URL(r.URL), text(r.Detail),
			number(r.Status), int64(r.Depth), number(r.Tries), moment(r.Visited()),
		}, nil
	}
	return l
}

func brokenHow(r *store.Record) string {
	switch {
	case r.Problem == learn.SoftProblem:
		return "soft"
	case r.Status == 404 || r.Status == 410:
		return "gone"
	case r.Status >= 400 && r.Status < 500:
		return "refused"
	case r.Status >= 500:
		return "server"
	case r.Status == 0:
		return "unreachable"
	}
	return "unreadable"
}

// blocked lists what robots.txt keeps from being read.
func blocked(a *Audit) *List {
	l := &List{
		Name: "blocked", Of: "URLs", Linked: true,
		Columns:  []Column{{"links", "Links", true}, {"url", "URL", true}, {"depth", "Clicks", false}},
		Findings: []*Finding{{}},
	}
	l.see = func(at int32, r *store.Record) {
		if r.Kind == store.Blocked {
			l.found("", at, nobody)
		}
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		return []any{s.links(), URL(s.page.Record.URL), int64(s.page.Record.Depth)}, nil
	}
	return l
}

// postponed lists what the crawl has not fetched, because of what it learned.
func postponed(a *Audit) *List {
	l := &List{
		Name: "postponed", Of: "URLs", Linked: true,
		Columns:  []Column{{"links", "Links", true}, {"url", "URL", true}, {"detail", "Why", false}, {"depth", "Clicks", false}},
		Findings: []*Finding{{}},
	}
	l.see = func(at int32, r *store.Record) {
		if r.Kind == store.Later {
			l.found("", at, nobody)
		}
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		r := &s.page.Record
		return []any{s.links(), URL(r.URL), r.Detail, int64(r.Depth)}, nil
	}
	return l
}
