package view

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"skink/base/harmless"
	"skink/base/segment"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// # The audit
//
// An audit reads the whole store twice, so it runs in the background, and its result is kept until
// a user asks for a new audit. The first request for the page starts an audit, unless a crawl in
// this process is writing to the store. In that case, only the form starts an audit, because
// viewing a page must not slow down a crawl.

// sinceNone selects an audit that is not compared with an earlier crawl. Other choices are the
// number of a crawl whose findings are stored, and "", which means the latest of these crawls.
const sinceNone = "none"

// A compared is an audit with the crawls that it can be compared with.
type compared struct {
	*audit.Audit
	earlier []audit.Crawl // newest first
	end     store.Cursor  // position of the store when the audit began
}

type nearlyOf func(ctx context.Context, s store.Reader) (*audit.Nearly, error)

// makeAudit audits the store, compares it with the chosen crawl (see sinceNone), and returns when
// the audit has ended. It returns at once if an audit is already running. If nearly is nil, the
// audit lacks the pages that are almost duplicates.
func (v *View) makeAudit(choice string, nearly nearlyOf) {
	v.auditing.renew(v.life, func(ctx context.Context) (*compared, error) {
		return borrowed(ctx, v.opt.Store, func(s store.Reader) (*compared, error) { return v.auditOf(ctx, s, choice, nearly) })
	})
}

func (v *View) auditOf(ctx context.Context, s store.Reader, choice string, nearly nearlyOf) (*compared, error) {
	opt := audit.Options{About: v.opt.About, Rule: v.opt.Rule, Areas: true, Scores: true, Segments: segment.Choice{List: v.opt.Segments}, Pages: lentPages{v.opt.Store}}
	if nearly != nil {
		opt.Nearly = func(ctx context.Context) (*audit.Nearly, error) { return nearly(ctx, s) }
	}
	h, err := audit.ReadHistory(ctx, s)
	if err != nil {
		return nil, err
	}
	if v.opt.About.Whole { // earlier findings are based on the verdicts of the crawl
		h = &audit.History{}
	}
	since := h.Last()
	if number, err := strconv.Atoi(choice); err == nil {
		since = h.Of(number)
	}
	if since != nil && choice != sinceNone {
		opt.Since, err = audit.ReadPast(ctx, s, since)
		if err != nil && (choice != "" || !errors.Is(err, store.ErrCorrupt)) { // unless the user chose a crawl, an audit without a comparison is better than none
			return nil, err
		}
	}
	end, err := s.End(ctx)
	if err != nil {
		return nil, err
	}
	a, err := audit.Read(ctx, s, opt)
	earlier := slices.Clone(h.Earlier())
	slices.Reverse(earlier)
	return &compared{a, earlier, end}, err
}

type auditView struct {
	*audit.Audit // empty if there is none
	state
	None   bool
	Old    bool // whether the store has changed since
	Groups []audit.Group
	Crawls []audit.Crawl // crawls that the next audit can be compared with, newest first
	Filter auditFilter
}

// An auditFilter is the form that selects findings by host, section, segment, language and change.
type auditFilter struct {
	audit.Filter
	Path     string
	Hosts    []string
	Sections []string
	Segments []string

	Languages []string
	Changes   []audit.Change // empty if the audit is not compared with an earlier crawl
}

// maxOptions is the maximum number of hosts, of sections and of languages that the form offers. It offers
// those with the most URLs.
const maxOptions = 200

func filterOf(a *compared, r *http.Request) auditFilter {
	q := r.URL.Query()
	f := auditFilter{Filter: audit.Filter{Host: q.Get("host"), Section: q.Get("section"), Segment: q.Get("segment"), Lang: q.Get("language"), Change: audit.Change(q.Get("change"))}, Path: r.URL.Path}
	few := func(all []string) []string { return all[:min(len(all), maxOptions)] }
	f.Hosts, f.Sections, f.Languages, f.Segments = few(a.Hosts()), few(a.Sections(f.Host)), few(a.Languages()), a.Segments()
	if a.Since() != nil {
		f.Changes = audit.Changes
	}
	return f
}

// On reports whether the filter leaves anything out.
func (f auditFilter) On() bool { return f.Filter != audit.Filter{} }

// Query returns the filter as a URL query that begins with a question mark. The caller may append
// parameters. It returns "" if the filter leaves nothing out.
func (f auditFilter) Query() string {
	return with("", nil, "host", f.Host, "section", f.Section, "segment", f.Segment, "language", f.Lang, "change", string(f.Change))
}

// Changed is like Query, but for the rows with another change.
func (f auditFilter) Changed(change audit.Change) string {
	f.Change = change
	return f.Query()
}

func (v *View) auditPage(_ context.Context, r *http.Request) (*screen, error) {
	s, subject := v.audited(r), v.opt.Name
	if !s.None {
		subject = cmp.Or(s.Site(), subject)
	}
	return &screen{name: "audit", title: "Audit of", subject: subject, again: s.Making, Content: s}, nil
}

// audited returns the last audit. If there is none, it starts one, unless a crawl writes to the store.
func (v *View) audited(r *http.Request) *auditView {
	known := wanted(v, &v.auditing, func() { v.makeAudit("", v.opt.Nearly) })
	s := &auditView{Audit: &audit.Audit{}, state: known.state, None: known.result == nil}
	if a := known.result; a != nil {
		s.Audit, s.Crawls, s.Filter = a.Audit, a.earlier, filterOf(a, r)
		s.Groups = a.Groups(s.Filter.Filter)
		end, err := borrowed(r.Context(), v.opt.Store, func(from store.Reader) (store.Cursor, error) { return from.End(r.Context()) })
		s.Old = err == nil && end != a.end // the page itself reports an error of the store
	}
	return s
}

func (v *View) remakeAudit(r *http.Request) (next string) {
	choice := r.PostFormValue("since")
	v.beside.Go(func() { v.makeAudit(choice, v.opt.Nearly) })
	return "/audit"
}

type findingView struct {
	audit.Selection
	Filter auditFilter
	At     string
	Table  report.Table
	paging
}

// rowsTime is how long a request may spend computing rows. After that, the page shows the rows
// computed so far. Some lists are slow to compute because texts must be compared.
const rowsTime = 80 * time.Millisecond

func (v *View) findingPage(ctx context.Context, r *http.Request) (*screen, error) {
	f, at, err := v.finding(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	from, rows := fromOf(r), []audit.Row{}
	until := time.Now().Add(rowsTime)
	filter := filterOf(v.auditing.now().result, r)
	selected := f.Select(filter.Filter)
	for row, err := range selected.Rows(ctx, from) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, row); len(rows) == rowsShown || time.Now().After(until) {
			break
		}
	}
	s := &findingView{Selection: selected, Filter: filter, At: timeText(at), Table: f.List().Table(rows)}
	s.Table.LinkTo = v.inside
	s.paging = pagingOf("/audit/"+f.FullName(), r, from, from+len(rows), selected.RowCount())
	return &screen{name: "finding page", title: f.Title, Content: s}, nil
}

// finding returns the finding with the given name, and the time at which its audit began.
func (v *View) finding(name string) (*audit.Finding, time.Time, error) {
	known := v.auditing.now()
	if known.result == nil {
		return nil, known.At, missing("There is no audit yet.")
	}
	f := known.result.Find(name)
	if f == nil {
		return nil, known.At, missing("There is no finding named " + name + ".")
	}
	return f, known.At, nil
}

// inside returns a link to the view's own page about a crawled URL, instead of a link to the URL.
func (v *View) inside(rawURL string) report.PageLink {
	l := report.LinkTo(rawURL)
	l.URL = v.short(l.URL)
	if l.Link != "" {
		l.Link = "/page/" + url.PathEscape(l.Link)
	}
	return l
}

func (v *View) findingCSV(w http.ResponseWriter, r *http.Request) {
	f, _, err := v.finding(strings.TrimSuffix(r.PathValue("name"), ".csv"))
	if err != nil {
		http.Error(w, harmless.Line(err.Error()), http.StatusNotFound)
		return
	}
	v.download(w, r, f.FullName()+".csv", "text/csv; charset=utf-8", audit.Output{Format: report.CSV, About: f.FullName()})
}

func (v *View) workbook(w http.ResponseWriter, r *http.Request) {
	if v.auditing.now().result == nil {
		http.Error(w, "There is no audit yet.", http.StatusNotFound)
		return
	}
	v.download(w, r, "audit.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", audit.Output{Format: report.XLSX})
}

func (v *View) download(w http.ResponseWriter, r *http.Request, name, media string, o audit.Output) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	if err := audit.Write(r.Context(), w, v.auditing.now().result.Audit, o); err != nil && r.Context().Err() == nil {
		panic(http.ErrAbortHandler) // an error midway: close the connection, so that the browser reports the file as incomplete
	}
}
