package render

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	maxRequests = 100      // maximum number of requests from one page that get a response
	maxShown    = 500      // the same if a picture is taken, which needs more files
	maxBytes    = 64 << 20 // after one page has received this many bytes, its further requests are refused
	fetchAtOnce = 8        // maximum number of requests from one page that the caller handles at the same time
)

// A paused is a request that the browser has paused until this package decides how to handle it.
type paused struct {
	RequestID    string
	FrameID      string
	ResourceType string
	Request      struct {
		URL     string
		Method  string
		Headers map[string]string

		HasPostData     bool
		PostDataEntries []struct{ Bytes []byte } // the parts of the body; Bytes is nil for a file
	}
}

// unsaid are the response header fields that are not passed to the browser. They describe the
// connection to the server, or would make the browser do more than show the page.
var unsaid = map[string]bool{
	"Content-Encoding": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Keep-Alive": true,
	"Set-Cookie": true, "Strict-Transport-Security": true, "Alt-Svc": true, "Link": true, "Nel": true, "Report-To": true,
	"Reporting-Endpoints": true, "Clear-Site-Data": true, "Content-Disposition": true, "Refresh": true, "Service-Worker-Allowed": true,
}

// passedOn are the header fields of browser requests that are passed on to the server, in addition
// to those whose names begin with X-.
var passedOn = map[string]bool{"Accept": true, "Accept-Language": true, "Content-Type": true, "Origin": true, "Authorization": true}

// trackers are domains of services that count visitors or show advertisements. These domains and
// all hosts below them get no requests, because a crawl must not count as a visitor.
var trackers = map[string]bool{
	"google-analytics.com": true, "googletagmanager.com": true, "googlesyndication.com": true, "doubleclick.net": true,
	"googleadservices.com": true, "connect.facebook.net": true, "analytics.tiktok.com": true, "bat.bing.com": true, "clarity.ms": true,
	"hotjar.com": true, "mc.yandex.ru": true, "segment.com": true, "segment.io": true, "mixpanel.com": true, "amplitude.com": true,
	"plausible.io": true, "cloudflareinsights.com": true, "scorecardresearch.com": true, "quantserve.com": true, "criteo.com": true,
	"newrelic.com": true, "nr-data.net": true, "sentry.io": true, "matomo.cloud": true, "px.ads.linkedin.com": true,
}

func isTracker(host string) bool {
	for host != "" {
		if trackers[host] {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}

// A use is a way to handle a request from the browser.
type use int

const (
	refuse use = iota
	answer     // the caller answers the request
	self       // the response is the page being rendered
	blank      // the response is an empty style sheet
	allow      // the browser asks whether another origin accepts a POST request; the response to that request decides
	inside     // the browser already has the data
)

// stopped handles a request that the browser has paused. It does not wait for the response.
func (t *tab) stopped(session string, p paused) {
	how, u := t.useOf(p)
	switch how {
	case refuse:
		reason := "BlockedByClient"
		if t.isPage(p) {
			reason = "Aborted" // the page stays
		}
		t.fail(session, p.RequestID, reason)
	case inside:
		t.post(session, "Fetch.continueRequest", params{"requestId": p.RequestID})
	case self:
		t.fulfil(session, p.RequestID, Answer{http.StatusOK, inUTF8(t.page.Header, t.page.Body), t.page.Body})
	case blank:
		t.fulfil(session, p.RequestID, Answer{http.StatusOK, http.Header{"Content-Type": {"text/css"}, "Access-Control-Allow-Origin": {"*"}}, nil})
	case allow:
		t.fulfil(session, p.RequestID, Answer{http.StatusNoContent, http.Header{
			"Access-Control-Allow-Origin": {p.header("Origin")}, "Access-Control-Allow-Credentials": {"true"},
			"Access-Control-Allow-Methods": {http.MethodPost}, "Access-Control-Allow-Headers": {p.header("Access-Control-Request-Headers")},
		}, nil})
	case answer:
		t.requests.Go(func() { t.answer(session, p, u) })
	}
}

// inUTF8 returns the header of a page, and adds that the page is in UTF-8 if neither its header nor its
// beginning says anything about its encoding. Browsers take such a page for windows-1252.
func inUTF8(h http.Header, body []byte) http.Header {
	kind := h.Get("Content-Type")
	begin := kind + string(body[:min(len(body), 1024)])
	if strings.Contains(strings.ToLower(begin), "charset") || !utf8.Valid(body) {
		return h
	}
	h = h.Clone()
	h.Set("Content-Type", kind+"; charset=utf-8")
	return h
}

// useOf decides how to handle a request. It counts the requests that the caller must answer.
func (t *tab) useOf(p paused) (use, *url.URL) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u, err := url.Parse(p.Request.URL)
	mayPost := err == nil && t.page.MayPost != nil && t.page.MayPost(u.Host)
	switch {
	case err != nil:
		return refuse, nil
	case u.Scheme == "data" || u.Scheme == "blob":
		return inside, u
	case mayPost && p.Request.Method == http.MethodOptions && p.header("Access-Control-Request-Method") == http.MethodPost:
		return allow, u
	case u.Scheme != "http" && u.Scheme != "https", t.ctx.Err() != nil, p.Request.Method != http.MethodGet && !(mayPost && p.isPost()):
		return refuse, u
	case t.isPage(p):
		if !t.started {
			t.started = true
			return self, u
		}
		t.loaded = true // the browser sends no load event for a page that is about to navigate
		if u.Fragment = ""; t.goes == "" && u.String() != t.page.URL {
			t.goes = u.String()
		}
		return refuse, u
	case p.ResourceType == "Stylesheet" && !t.opt.Screenshots:
		return blank, u
	case !t.loads(p.ResourceType) && !t.isOwnFrame(p, u), p.isAside(), isTracker(u.Hostname()), t.bytes >= maxBytes:
		return refuse, u
	case t.asked >= maxRequests && (!t.opt.Screenshots || t.asked >= maxShown):
		return refuse, u
	}
	t.asked++
	t.open++
	return answer, u
}

// isPage reports whether a request is for the page itself, or for one that would take its place.
func (t *tab) isPage(p paused) bool { return p.ResourceType == "Document" && p.FrameID == t.target }

// isOwnFrame reports whether a request is for a frame of the same origin as the page.
func (t *tab) isOwnFrame(p paused, u *url.URL) bool {
	page, err := url.Parse(t.page.URL)
	return err == nil && p.ResourceType == "Document" && u.Scheme == page.Scheme && u.Host == page.Host
}

// isPost reports whether a script makes a POST request whose whole body is known.
func (p *paused) isPost() bool {
	size := len(p.body())
	return p.Request.Method == http.MethodPost && (p.ResourceType == "XHR" || p.ResourceType == "Fetch") && size > 0 == p.Request.HasPostData
}

func (p *paused) body() (all []byte) {
	for _, part := range p.Request.PostDataEntries {
		if part.Bytes == nil {
			return nil
		}
		all = append(all, part.Bytes...)
	}
	return all
}

// isAside reports whether the page can do without the response to a request. This is true of
// prefetch requests, and of event streams, which never end.
func (p *paused) isAside() bool {
	return p.header("Sec-Purpose")+p.header("Purpose") != "" || p.header("Accept") == "text/event-stream"
}

// header returns the value of a header field, given by its canonical name.
func (p *paused) header(name string) string {
	for n, value := range p.Request.Headers {
		if http.CanonicalHeaderKey(n) == name {
			return value
		}
	}
	return ""
}

// loads reports whether the caller answers requests of a type.
func (t *tab) loads(kind string) bool {
	switch kind {
	case "Script", "XHR", "Fetch":
		return true
	case "Stylesheet", "Image", "Font":
		return t.opt.Screenshots
	}
	return false
}

// answer asks the caller for the response to a request, and passes it to the browser.
func (t *tab) answer(session string, p paused, u *url.URL) {
	t.fetching <- struct{}{}
	u.Fragment = ""
	r := Request{Method: p.Request.Method, URL: u.String(), Header: http.Header{}, Body: p.body()}
	for name, value := range p.Request.Headers {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if passedOn[name] || strings.HasPrefix(name, "X-") {
			r.Header.Set(name, value)
		}
	}
	a, err := t.fetch(t.ctx, r)
	<-t.fetching
	if err != nil {
		t.fail(session, p.RequestID, "Failed")
	} else {
		t.fulfil(session, p.RequestID, a)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
	t.bytes += int64(len(a.Body))
}
