package view

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"skink/internal/harmless"
	"skink/report"
	"skink/report/audit"
)

// # The audit
//
// An audit reads the whole store twice. It therefore runs in the background, and its result is kept
// until a user asks for a new audit. The first request for the page starts an audit, unless a crawl
// in this process is writing to the store. In that case, only the form starts an audit, because
// viewing a page must not slow down a crawl.

// makeAudit audits the store, and returns when the audit has ended. It returns at once if an audit
// is already running.
func (v *View) makeAudit() {
	v.auditing.renew(v.life, func(ctx context.Context) (*audit.Audit, error) {
		opt := audit.Options{About: v.opt.About, Rule: v.opt.Rule}
		if v.opt.Nearly != nil {
			opt.Nearly = func(ctx context.Context) (*audit.Nearly, error) { return v.opt.Nearly(ctx, borrowed{v.opt.Store}) }
		}
		return audit.Read(ctx, borrowed{v.opt.Store}, opt)
	})
}

// An auditView is the data for the page that lists the findings of the last audit.
type auditView struct {
	Form   string
	At     string
	Making bool
	Failed string
	None   bool
	URLs   int64  // number of URLs that the audit covers
	Seen   string // a text that says which part of the site was fetched
	Gaps   []audit.Gap
	Groups []findingGroup

	Unknown []string // reasons why some lists are missing or incomplete
}

type findingGroup struct {
	Weight   audit.Weight
	Title    string
	Findings []*audit.Finding
}

// weights are the titles of the groups of findings, by severity.
var weights = map[audit.Weight]string{
	audit.Error:   "Errors: visitors or search engines are misled",
	audit.Warning: "Warnings: they have a cost, or may be unintended",
	audit.Note:    "Notes: good to know",
	audit.OK:      "OK: as it should be",
}

// auditPage lists the findings, the most important first.
func (v *View) auditPage(_ context.Context, _ *http.Request) (*screen, error) {
	known := v.auditing.now()
	a := known.what
	if a == nil && known.failed == nil && !known.making && v.opt.Crawl == nil {
		v.beside.Go(v.makeAudit)
		known.making = true
	}
	s := &auditView{Form: v.form, At: timeText(known.at), Making: known.making, None: a == nil}
	if known.failed != nil {
		s.Failed = known.failed.Error()
	}
	if a != nil {
		s.URLs, s.Unknown, s.Seen, s.Gaps = a.URLs, a.Unknown(), a.Coverage.String(), a.Coverage.Gaps
		for _, f := range a.Findings() {
			if title := weights[f.Weight]; len(s.Groups) == 0 || s.Groups[len(s.Groups)-1].Title != title {
				s.Groups = append(s.Groups, findingGroup{Weight: f.Weight, Title: title})
			}
			last := &s.Groups[len(s.Groups)-1]
			last.Findings = append(last.Findings, f)
		}
	}
	again := time.Duration(0)
	if known.making {
		again = time.Second
	}
	return &screen{name: "audit", title: "Audit", again: again, Content: s}, nil
}

// remakeAudit handles the form that starts a new audit.
func (v *View) remakeAudit(w http.ResponseWriter, r *http.Request) {
	if !v.authentic(r) {
		http.Error(w, "this form has expired: reload the page, and press the button again", http.StatusForbidden)
		return
	}
	v.beside.Go(v.makeAudit)
	http.Redirect(w, r, "/audit", http.StatusSeeOther)
}

// A findingView is the data for a page with some rows of one finding.
type findingView struct {
	*audit.Finding
	At      string
	Table   report.Table
	Total   int
	First   int
	Last    int
	Earlier string
	Later   string
}

// rowsTime is the time for which a request may compute rows. After this time, the page shows the
// rows computed up to then. The rows of some lists take long, because they depend on comparisons of
// texts.
const rowsTime = 80 * time.Millisecond

// findingPage shows the rows of a finding, beginning with the one that the request names.
func (v *View) findingPage(ctx context.Context, r *http.Request) (*screen, error) {
	f, at, err := v.finding(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	from = max(from, 0)
	rows := []audit.Row{}
	until := time.Now().Add(rowsTime)
	for row, err := range f.Rows(ctx, from) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, row); len(rows) == most || time.Now().After(until) {
			break
		}
	}
	s := &findingView{Finding: f, At: timeText(at), Table: f.List().Table(rows), Total: f.Count() + f.Apart(), First: from + 1, Last: from + len(rows)}
	s.Table.LinkTo = inside
	here := "/audit/" + f.FullName()
	if from > 0 {
		s.Earlier = fmt.Sprintf("%s?from=%d", here, max(from-most, 0))
	}
	if s.Last < s.Total && len(rows) > 0 {
		s.Later = fmt.Sprintf("%s?from=%d", here, s.Last)
	}
	return &screen{name: "finding page", title: f.Title, Content: s}, nil
}

// finding returns the finding with that name, and the time at which its audit began.
func (v *View) finding(name string) (*audit.Finding, time.Time, error) {
	known := v.auditing.now()
	if known.what == nil {
		return nil, known.at, missing("There is no audit yet.")
	}
	f := known.what.Find(name)
	if f == nil {
		return nil, known.at, missing("There is no finding named " + name + ".")
	}
	return f, known.at, nil
}

// inside returns a link to the view's own page about a crawled URL, instead of a link to the URL.
func inside(rawURL string) report.PageLink {
	l := report.LinkTo(rawURL)
	if l.Link != "" {
		l.Link = "/page/" + url.PathEscape(l.Link)
	}
	return l
}

// findingCSV sends all rows of a finding as CSV.
func (v *View) findingCSV(w http.ResponseWriter, r *http.Request) {
	f, _, err := v.finding(strings.TrimSuffix(r.PathValue("name"), ".csv"))
	if err != nil {
		http.Error(w, harmless.Line(err.Error()), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+f.FullName()+`.csv"`)
	if err := audit.Write(r.Context(), w, v.auditing.now().what, audit.Output{Format: report.CSV, About: f.FullName()}); err != nil && r.Context().Err() == nil {
		panic(http.ErrAbortHandler) // after an error in the middle, closes the connection, so that the browser reports the file as incomplete
	}
}
