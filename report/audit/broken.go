package audit

import (
	"cmp"
	"context"

	"skink/crawler/learn"
	"skink/store"
)

// broken lists the URLs that failed, by who can mend them.
func broken(a *Audit) *List {
	l := &List{
		Name: "broken", Title: "Broken links", Of: "URLs", Linked: true,
		Columns: []Column{
			{"links", "Links", true}, {"reason", "Reason", true}, {"url", "URL", true}, {"detail", "Detail", false},
			{"status", "Status", false}, {"depth", "Clicks", false}, {"tries", "Tries", false}, {"visited", "Visited", false},
		},
		Findings: []*Finding{
			{Name: "gone", Weight: Fault, Title: "Addresses where nothing is",
				Means: "The server says that nothing is at these addresses (404 or 410), so whoever follows a link to one gets an error page.",
				Mend:  "Let the links lead to where the page is now, redirect the old address there, or remove the links."},
			{Name: "soft", Weight: Fault, Title: "Addresses where nothing is, answered as if there were a page",
				Means: "The server answers these addresses with status 200 and the page that it shows for whatever does not exist.",
				Mend:  "Let the server answer with status 404 where nothing is, and mend the links as those to other addresses that are gone."},
			{Name: "refused", Weight: Fault, Title: "Addresses that are refused",
				Means: "The server does not hand out these addresses (another status from 400 to 499).",
				Mend:  "Let visitors in, or remove the links to these addresses from public pages."},
			{Name: "server", Weight: Fault, Title: "Addresses at which the server fails",
				Means: "The server answered with an error of its own (a status from 500 on).",
				Mend:  "Look into the log of the server for the time of the visit, and mend what failed."},
			{Name: "unreachable", Weight: Fault, Title: "Addresses where nobody answers",
				Means: "No whole answer came: the name is unknown, the connection or its certificate failed, or time ran out.",
				Mend:  "Check the name of the host, its certificate, and whether the server answers in time."},
			{Name: "unreadable", Weight: Fault, Title: "Answers that cannot be used",
				Means: "An answer came that is too large, badly packed, no HTTP, or a redirect to nowhere.",
				Mend:  "Look at the reason beside each address, and mend what the server sends."},
		},
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
		Name: "blocked", Title: "Blocked by robots.txt", Of: "URLs", Linked: true,
		Columns: []Column{{"links", "Links", true}, {"url", "URL", true}, {"depth", "Clicks", false}},
		Findings: []*Finding{{Weight: Note, Title: "URLs that robots.txt blocks",
			Means: "The robots.txt of the host asks crawlers not to read these addresses, so no search engine sees what is there.",
			Mend:  "Allow in robots.txt what is to be found; what is not to be found needs noindex, which only a page that may be read can say."}},
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
		Name: "postponed", Title: "Postponed", Of: "URLs", Linked: true,
		Columns: []Column{{"links", "Links", true}, {"url", "URL", true}, {"detail", "Why", false}, {"depth", "Clicks", false}},
		Findings: []*Finding{{Weight: Note, Title: "URLs that the crawl postponed",
			Means: "Other URLs of the same pattern kept returning texts that the host had said before, so the crawl has not read these. Search engines waste their visits on such URLs, too.",
			Mend:  "Link to one address for each text. To have these URLs read all the same, crawl again with --budget off."}},
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
