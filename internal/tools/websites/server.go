package websites

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// A Server serves a site and counts the requests. Its methods are safe for concurrent use.
type Server struct {
	Site *Site

	mu     sync.Mutex
	visits int             // guarded by mu: number of requests, not counting those for robots.txt and sitemaps
	asked  map[string]int  // guarded by mu: number of requests by path and query
	given  map[string]int  // guarded by mu: number of responses by text
	linked map[string]bool // guarded by mu: keys of the URLs that have been linked or requested so far
	shapes map[string]bool // guarded by mu: shapes of the URLs that have been linked
	probes map[string]bool // guarded by mu: shapes that were probed with one URL that nothing links to
	made   []string        // guarded by mu: other requested URLs that nothing links to
	due    chan struct{}   // guarded by mu: closed when request number dueAt arrives; nil if no caller of After is waiting
	dueAt  int
}

// Serve returns a server for a site.
func Serve(s *Site) *Server {
	v := &Server{Site: s, asked: map[string]int{}, given: map[string]int{}, linked: map[string]bool{}, shapes: map[string]bool{}, probes: map[string]bool{}}
	v.link("/")
	if s.Start != "" {
		v.link(s.Start)
	}
	return v
}

// A Tally describes the requests that a server has received so far.
type Tally struct {
	Fetched  int      // number of requests, not counting those for robots.txt and sitemaps
	Found    int      // number of texts in Site.Texts that were sent
	Missing  []string // texts in Site.Texts that were not sent
	Copies   int      // number of responses whose text had been sent before
	Probes   int      // number of URL shapes for which the crawler requested a single unlinked URL, to see the response for a missing page; see shapeOf
	Invented []string // other requested URLs that nothing links to
}

// Tally returns the counts so far.
func (s *Server) Tally() Tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := Tally{Fetched: s.visits, Probes: len(s.probes), Invented: append([]string(nil), s.made...)}
	for _, n := range s.given {
		t.Copies += n - 1
	}
	for _, text := range s.Site.Texts {
		if s.given[text] > 0 {
			t.Found++
		} else {
			t.Missing = append(t.Missing, text)
		}
	}
	return t
}

// After returns a channel that is closed once the server has received the given number of requests
// in total.
func (s *Server) After(requests int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due, s.dueAt = make(chan struct{}), max(requests, s.visits+1)
	return s.due
}

// ServeHTTP sends the site's response.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
		http.NotFound(w, r)
		return
	}
	a := s.Site.Open(r.URL, s.visit(r.URL))
	s.answered(r.URL, &a)
	if a.Type == "" {
		a.Type = "text/html; charset=utf-8"
	}
	w.Header().Set("Content-Type", a.Type)
	if a.Location != "" {
		w.Header().Set("Location", a.Location)
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write([]byte(a.Body)) // an error means only that the client has closed the connection
}

func (s *Server) visit(u *url.URL) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits++
	if s.due != nil && s.visits >= s.dueAt {
		close(s.due)
		s.due = nil
	}
	s.asked[u.RequestURI()]++
	if !s.linked[key(u)] {
		s.linked[key(u)] = true // do not count repeated requests
		if shape := shapeOf(u); s.probes[shape] || !s.shapes[shape] {
			s.made = append(s.made, u.RequestURI())
		} else {
			s.probes[shape] = true
		}
	}
	return s.visits
}

var hrefs = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

func (s *Server) answered(u *url.URL, a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Text != "" {
		s.given[a.Text]++
	}
	if a.Location != "" {
		s.follow(u, a.Location)
	}
	for _, m := range hrefs.FindAllStringSubmatch(a.Body, -1) {
		s.follow(u, html.UnescapeString(m[1]))
	}
}

func (s *Server) follow(from *url.URL, href string) {
	if to, err := from.Parse(href); err == nil {
		s.link(to.RequestURI())
	}
}

func (s *Server) link(uri string) {
	if u, err := url.Parse(uri); err == nil {
		s.linked[key(u)] = true
		s.shapes[shapeOf(u)] = true
	}
}

// key returns the path and query of a URL, with the parameters sorted by name.
func key(u *url.URL) string {
	if u.RawQuery == "" {
		return u.Path
	}
	return u.Path + "?" + u.Query().Encode()
}

var digits = regexp.MustCompile(`[0-9]+`)

// shapeOf returns the shape of a URL: its folder, whether its path ends in a number, and the names
// of its parameters, with all numbers replaced by 0. A crawler may request one invented URL of each
// shape, to see how the site responds to a request for a missing page.
func shapeOf(u *url.URL) string {
	path, last := u.Path, ""
	if at := strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1; at > 0 {
		path, last = path[:at], path[at:]
	}
	if last != "" && digits.ReplaceAllString(last, "") == "" {
		path += "0"
	}
	if u.RawQuery != "" {
		q := u.Query()
		for name := range q {
			q[name] = nil
		}
		for name := range q {
			q.Set(name, "")
		}
		path += "?" + q.Encode()
	}
	return digits.ReplaceAllString(path, "0")
}
