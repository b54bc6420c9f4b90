// Package view shows a store in a browser: the state of a running crawl, its pages, which pages
// repeat which, and why. It serves HTML over a [store.Reader], and its pages load nothing from
// other servers.
//
//	v, err := view.New(view.Options{Store: source, Name: "docs", Rule: rule, Address: "127.0.0.1:8465"})
//	defer v.Close()
//	http.Serve(listener, v)
//
// It changes nothing in a store, answers only under its own names, and trusts no crawled content.
// guard.go describes how.
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
	"sync"
	"sync/atomic"
	"time"

	"skink/dedup"
	"skink/internal/harmless"
	"skink/internal/loopback"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// A Source lends a store. Several goroutines may borrow it at once.
type Source interface {
	// Read calls do with the store in its current state. The reader is valid until do returns.
	Read(ctx context.Context, do func(store.Reader) error) error
}

// Options says what is shown, and to whom.
type Options struct {
	Store   Source
	Name    string       // name of the store, shown as the title
	Rule    dedup.Rule   // by which its pages were judged
	About   report.About // what audits say of the store
	Address string       // host and port at which the server listens
	Token   string       // secret that a browser's first URL must contain; "": no secret is needed

	// Alike compares all pages of a store. It calls tell now and then with the share that is done.
	Alike func(ctx context.Context, s store.Reader, tell func(share float64)) (Alike, error)
	// Nearly finds the pages that are almost duplicates, for audits. If it is nil or returns nil,
	// they are not known.
	Nearly func(ctx context.Context, s store.Reader) (*audit.Nearly, error)

	// Marked writes a page as it was crawled, with the extracted text marked. nil: not available.
	Marked func(ctx context.Context, s store.Reader, r *store.Record, w io.Writer) error

	Crawl  Crawl                                                     // that runs in this process; nil: none does
	Moment func(ctx context.Context, s store.Reader) (Moment, error) // how a store stands, if there is no Crawl
}

// A View answers the requests of browsers. Each kind of page is a method with a file of its own.
type View struct {
	opt    Options
	form   string // token of the forms that change something
	index  *index
	pages  *template.Template
	answer http.Handler
	pulse  pulse
	lately lately

	auditing latest[*audit.Audit]
	likening latest[Alike] // the comparison of all pages with each other
	likened  atomic.Int64  // per cent of the comparison that is being made
	turning  latest[*inward]

	streams chan struct{} // one for each browser that is told of the crawl

	life   context.Context
	end    context.CancelFunc
	beside sync.WaitGroup // background work, which Close waits for
}

//go:embed *.html view.css view.js
var files embed.FS

// New returns a view. The caller must close it after the last request.
func New(opt Options) (*View, error) {
	v := &View{opt: opt, form: rand.Text(), index: newIndex(opt.Store), streams: make(chan struct{}, mostStreams)}
	v.life, v.end = context.WithCancel(context.Background())
	var err error
	if v.pages, err = audit.Templates(report.Templates()); err != nil {
		return nil, err
	}
	if v.pages, err = v.pages.Funcs(functions).ParseFS(files, "*.html"); err != nil {
		return nil, err
	}
	v.answer = v.guard(v.routes())
	if opt.Crawl != nil {
		v.beside.Go(v.watch)
	}
	return v, nil
}

// watch records the progress of the crawl, so that a browser that connects later sees its history.
func (v *View) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		v.pulse.beat(time.Now(), v.opt.Crawl.Pages())
		select {
		case <-tick.C:
		case <-v.life.Done():
			return
		}
	}
}

// End ends the answers that last as long as the crawl.
func (v *View) End() { v.end() }

// Close ends the background work of the view. No request may follow.
func (v *View) Close() {
	v.end()
	v.beside.Wait()
}

// ServeHTTP answers a request.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) { v.answer.ServeHTTP(w, r) }

// routes maps the paths to pages. Each is requested by GET.
func (v *View) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/now", http.StatusSeeOther) })
	mux.Handle("GET /now", v.shown(v.nowPage))
	mux.HandleFunc("GET /now/events", v.events)
	mux.HandleFunc("POST /now/pause", v.told(Crawl.Pause))
	mux.HandleFunc("POST /now/go-on", v.told(Crawl.GoOn))
	mux.HandleFunc("POST /now/stop", v.told(Crawl.Stop))
	mux.Handle("GET /pages", v.shown(v.pagesPage))
	mux.Handle("GET /page/{id}", v.shown(v.onePage))
	mux.HandleFunc("POST /page/{id}/in", v.turnAgain)
	if v.opt.Marked != nil {
		mux.HandleFunc("GET /page/{id}/marked", v.markedPage)
	}
	mux.Handle("GET /clusters", v.shown(v.clustersPage))
	mux.Handle("GET /cluster/{id}", v.shown(v.clusterPage))
	mux.Handle("GET /compare", v.shown(v.comparePage))
	mux.Handle("GET /audit", v.shown(v.auditPage))
	mux.HandleFunc("POST /audit", v.remakeAudit)
	mux.Handle("GET /audit/{name}", v.shown(v.findingPage))
	mux.HandleFunc("GET /audit.csv/{name}", v.findingCSV)
	mux.Handle("GET /similarity", v.shown(v.alikePage))
	mux.HandleFunc("POST /similarity", v.likenAgain)
	mux.Handle("GET /map", v.shown(v.mapPage))
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		v.file(w, "text/css; charset=utf-8", report.Style, "view.css")
	})
	mux.HandleFunc("GET /view.js", func(w http.ResponseWriter, r *http.Request) {
		v.file(w, "text/javascript; charset=utf-8", "", "view.js")
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return mux
}

// file serves a text of the program as a file.
func (v *View) file(w http.ResponseWriter, kind, text, name string) {
	b, err := files.ReadFile(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(append([]byte(text), b...)) // an error means that the browser has gone
}

// A screen is the content of a page.
type screen struct {
	name    string // name of the template that shows the content
	title   string
	again   time.Duration // after which the browser asks again, if more is to come; 0: it need not
	live    string        // where the browser is told what changes; "": nowhere
	Content any
}

// A missing is an error that says that there is no such page.
type missing string

func (m missing) Error() string { return string(m) }

// answerTime is how long the store is asked for one answer.
const answerTime = 10 * time.Second

// shown returns a handler that answers each request with the screen that make returns.
func (v *View) shown(make func(ctx context.Context, r *http.Request) (*screen, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A reader that asks another process loses it when a context ends in the middle of a question.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
		defer cancel()
		v.index.fresh(r.Context(), &v.beside, v.life)
		read := v.index.progress() // before the lists are made: the rest may be read meanwhile
		s, err := make(ctx, r)
		status := http.StatusOK
		if err != nil {
			status = http.StatusInternalServerError
			if _, ok := err.(missing); ok {
				status = http.StatusNotFound
			}
			s = &screen{name: "trouble", title: "Nothing to show", Content: err.Error()}
		}
		v.write(w, r, status, s, read)
	})
}

// write sends a screen that shows at least as much as was read.
func (v *View) write(w http.ResponseWriter, r *http.Request, status int, s *screen, read progress) {
	var content, page bytes.Buffer
	err := v.pages.ExecuteTemplate(&content, s.name, s.Content)
	if err == nil {
		err = v.pages.ExecuteTemplate(&page, "layout", struct {
			Title, Store, Here, Live string
			Content                  template.HTML
			Places                   []place
			Progress                 progress
		}{s.title, v.opt.Name, r.URL.Path, s.live, template.HTML(content.String()), places, read})
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("show the page: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if s.again > 0 {
		w.Header().Set("Refresh", fmt.Sprint(max(int(s.again/time.Second), 1)))
	}
	w.WriteHeader(status)
	out := harmless.HTML(w)
	_, _ = page.WriteTo(out) // an error means that the browser has gone
	_ = out.Flush()
}

// A place is an entry of the menu.
type place struct{ Path, Name string }

var places = []place{{"/now", "Now"}, {"/pages", "Pages"}, {"/clusters", "Clusters"}, {"/similarity", "Similarity"}, {"/audit", "Audit"}, {"/map", "Map"}}

// guard checks a request before its page handles it.
func (v *View) guard(next http.Handler) http.Handler {
	return loopback.Only(v.opt.Address, harden(v.admit(next)))
}
