// Package view shows a store in a browser: the state of a running crawl, its pages, and which pages
// are duplicates of which, and why. It serves HTML with data from a [store.Reader], and its pages
// load nothing from other servers.
//
//	v, err := view.New(view.Options{Store: source, Name: "docs", Rule: rule, Address: "127.0.0.1:8465"})
//	defer v.Close()
//	http.Serve(listener, v)
//
// The view changes nothing in a store, answers only requests for its own host names, and escapes
// all crawled content, as described in guard.go.
package view

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"skink/base/harmless"
	"skink/base/loopback"
	"skink/base/segment"
	"skink/dedup"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// A Source lends a store to the view. Several goroutines may borrow it at once.
type Source interface {
	// Read calls do with a reader of the store's current state. do must not keep the reader after
	// it returns.
	Read(ctx context.Context, do func(store.Reader) error) error
}

// Options are the store that a view shows, and the settings of the view.
type Options struct {
	Store    Source
	Name     string       // name of the store, as shown to users
	Rule     dedup.Rule   // rule by which the store's pages were judged
	About    report.About // description of the store and the settings, for the heading of audits
	Segments segment.List // segments of the site; may be empty
	Address  string       // address that the server listens on
	Token    string       // token that the first request of a browser must contain; "" if none is needed

	// Alike compares all pages of a store with each other. It regularly calls tell with the
	// completed share of the comparison, from 0 to 1.
	Alike func(ctx context.Context, s store.Reader, tell func(share float64)) (*Alike, error)
	// Nearly finds the pages that are almost duplicates, for audits. If Nearly is nil or returns nil,
	// audits list these pages as not checked.
	Nearly func(ctx context.Context, s store.Reader) (*audit.Nearly, error)

	// Picture returns a small picture of a page in JPEG format, or nil if there is none. If Picture is
	// nil, the view shows no pictures.
	Picture func(ctx context.Context, s store.Reader, r *store.Record) []byte

	Crawl  Crawl                                                     // the crawl running in this process; nil if there is none
	Moment func(ctx context.Context, s store.Reader) (Moment, error) // returns the state of the store; called if Crawl is nil
}

// A View handles requests from browsers. Each kind of page has its handler in a separate file.
type View struct {
	opt    Options
	form   string // token required in each form that changes something
	index  *index
	pages  *template.Template
	answer http.Handler
	pulse  pulse

	auditing   latest[*compared]
	comparison latest[*Alike] // result of the comparison of all pages with each other
	compared   atomic.Int64   // percentage of the running comparison that is complete
	// the incoming links of all pages
	incoming latest[*inward]

	life   context.Context
	end    context.CancelFunc
	beside sync.WaitGroup // waits for background work
}

//go:embed *.html
var files embed.FS

//go:embed view.css
var style string

//go:embed view.js
var script string

// New returns a view. The caller must close it after the last request.
func New(opt Options) (*View, error) {
	v := &View{opt: opt, form: rand.Text()}
	v.life, v.end = context.WithCancel(context.Background())
	v.index = newIndex(opt.Store, opt.Segments, &v.beside, v.life)
	var err error
	if v.pages, err = audit.Templates(report.Templates()); err != nil {
		return nil, err
	}
	if v.pages, err = v.pages.Funcs(functions).Funcs(template.FuncMap{"short": v.short, "segment": opt.Segments.Of, "token": func() string { return v.form }}).ParseFS(files, "*.html"); err != nil {
		return nil, err
	}
	v.answer = v.guard(v.routes())
	if opt.Crawl != nil {
		v.beside.Go(v.watch)
	}
	return v, nil
}

// short returns a crawled URL as it is shown: without its host if all pages are on that host.
func (v *View) short(rawURL string) (short string) {
	v.index.look(func(t *rows) { short = strings.TrimSpace(harmless.Plain(t.short(rawURL))) })
	return short
}

// watch records the number of pages every second, so that a browser that connects later can show
// the history of the crawl.
func (v *View) watch() {
	tick := time.Tick(time.Second)
	for {
		v.pulse.beat(time.Now(), v.opt.Crawl.Pages())
		select {
		case <-tick:
		case <-v.life.Done():
			return
		}
	}
}

// End ends all background work.
func (v *View) End() { v.end() }

// Close ends the background work of the view and waits for it. The caller must not call ServeHTTP
// afterwards.
func (v *View) Close() {
	v.end()
	v.beside.Wait()
}

// ServeHTTP implements [http.Handler].
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) { v.answer.ServeHTTP(w, r) }

func (v *View) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, v.first(), http.StatusSeeOther)
	})
	mux.Handle("GET /overview", v.shown(v.overviewPage))
	mux.Handle("GET /now", v.shown(v.nowPage))
	if v.opt.Crawl != nil {
		mux.HandleFunc("POST /now/{order}", v.posted(v.control))
	}
	mux.Handle("GET /pages", v.shown(v.pagesPage))
	mux.Handle("GET /page/{id}", v.shown(v.onePage))
	mux.HandleFunc("POST /page/{id}/in", v.posted(v.recountLinks))
	if v.opt.Picture != nil {
		mux.HandleFunc("GET /page/{id}/picture", v.picture)
	}
	mux.Handle("GET /clusters", v.shown(v.clustersPage))
	mux.Handle("GET /cluster/{id}", v.shown(v.clusterPage))
	mux.Handle("GET /compare", v.shown(v.comparePage))
	mux.Handle("GET /audit", v.shown(v.auditPage))
	mux.HandleFunc("POST /audit", v.posted(v.remakeAudit))
	mux.Handle("GET /audit/{name}", v.shown(v.findingPage))
	if v.opt.Alike != nil {
		mux.Handle("GET /audit/"+nearlyName, v.shown(v.nearlyPage))
		mux.HandleFunc("POST /audit/"+nearlyName, v.posted(v.findNearlyAgain))
		mux.HandleFunc("POST /similarity", v.posted(v.recompare))
	}
	mux.HandleFunc("GET /audit.csv/{name}", v.findingCSV)
	mux.HandleFunc("GET /audit.xlsx", v.workbook)
	mux.Handle("GET /similarity", v.shown(v.alikePage))
	mux.Handle("GET /map", v.shown(v.mapPage))
	mux.HandleFunc("POST /map", v.posted(v.redraw))
	mux.HandleFunc("GET /style.css", serve("text/css; charset=utf-8", report.Style+style))
	mux.HandleFunc("GET /view.js", serve("text/javascript; charset=utf-8", script))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return mux
}

// serve returns a handler that sends a text with the given content type.
func serve(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text) // an error means that the browser closed the connection
	}
}

type screen struct {
	name    string // name of the template
	title   string // title in the view's own words; if "", subject is the title
	subject string // crawled text that follows the title, such as the title of a crawled page
	again   bool   // whether the browser reloads the page after a second
	live    bool   // whether the browser updates the page all the time
	Content any
}

// A missing is an error that the view answers with status 404. Its text is shown to the user.
type missing string

func (m missing) Error() string { return string(m) }

// answerTime is how long a request may read from the store.
const answerTime = 10 * time.Second

func (v *View) shown(make func(ctx context.Context, r *http.Request) (*screen, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A reader of a store in another process becomes unusable if a context ends during a call,
		// so this context must not end with the request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
		defer cancel()
		v.index.fresh(r.Context())
		read := v.index.progress() // read before the lists are built, because the index may grow in the meantime
		s, err := make(ctx, r)
		status := http.StatusOK
		if err != nil {
			status = http.StatusInternalServerError
			if _, ok := err.(missing); ok {
				status = http.StatusNotFound
			}
			s = &screen{name: "trouble", title: "The page cannot be shown", Content: err.Error()}
		}
		v.write(w, r, status, s, read)
	})
}

// write sends a screen as an HTML page. read is the progress of the index before the screen was
// made.
func (v *View) write(w http.ResponseWriter, r *http.Request, status int, s *screen, read progress) {
	var content, page bytes.Buffer
	err := v.pages.ExecuteTemplate(&content, s.name, s.Content)
	if err == nil {
		err = v.pages.ExecuteTemplate(&page, "layout", struct {
			Title, Of, Store, Here string
			Live                   bool
			Content                template.HTML
			First                  string
			Progress               progress
		}{s.title, s.subject, v.opt.Name, r.URL.Path, s.live, template.HTML(content.String()), v.first(), read})
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("show the page: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if s.again {
		w.Header().Set("Refresh", "1")
	}
	w.WriteHeader(status)
	out := harmless.HTML(w)
	_, _ = page.WriteTo(out) // an error means that the browser closed the connection
	_ = out.Flush()
}

// first returns the place of the menu where a visitor begins.
func (v *View) first() string {
	if v.opt.Crawl != nil {
		return "/now"
	}
	return "/overview"
}

// guard returns a handler that checks each request before it calls next, as described in guard.go.
func (v *View) guard(next http.Handler) http.Handler {
	return loopback.Only(harden(v.admit(next)), v.opt.Address)
}

// borrowed calls do with the store, and returns the result of do.
func borrowed[T any](ctx context.Context, from Source, do func(store.Reader) (T, error)) (result T, err error) {
	err = from.Read(ctx, func(s store.Reader) (err error) {
		result, err = do(s)
		return err
	})
	return result, err
}

// lentPages reads the pages of an audit's rows. It borrows the store for each call, because the
// audit is kept for longer than a store is lent.
type lentPages struct{ from Source }

func (l lentPages) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	return borrowed(ctx, l.from, func(s store.Reader) ([]*store.Content, error) { return s.Pages(ctx, ids, want) })
}
