package view

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/storetest"
	"skink/store"
)

// A fakeCrawl records what the view tells it to do.
type fakeCrawl struct {
	mu     sync.Mutex
	moment Moment
	told   []string
}

func (f *fakeCrawl) Pages() int64 { return 7 }

func (f *fakeCrawl) Order(verb, host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, strings.TrimSpace(verb+" "+host))
	f.moment.Paused = verb == "pause"
}

func (f *fakeCrawl) Now() Moment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.moment
}

func newCrawlView(t testing.TB) (*fakeCrawl, *httptest.Server) {
	f := &fakeCrawl{moment: Moment{Tally: store.Tally{Unique: 5, Near: 2}, InFlight: 3, Left: 90 * time.Minute, Hosts: []HostNow{
		{Name: "slow.example", State: Rests, Why: "the host asked for a pause; next request in 9s", Requests: 2},
		{Name: "busy.example", State: Works, Requests: 40},
	}, Orders: []store.Order{{Verb: "exclude", Of: "<b>", By: "jo@a"}, {Verb: "block", Of: "shut.example"}}}}
	_, server := newView(t, small(t), func(o *Options) { o.Crawl = f })
	return f, server
}

func post(t testing.TB, server *httptest.Server, path string, form url.Values, origin string) int {
	t.Helper()
	r, err := http.NewRequest("POST", server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// A crawl obeys the forms on its page, but only if they are sent with the right token and not from
// another site.
func TestForms(t *testing.T) {
	f, server := newCrawlView(t)
	now := get(t, server, "/now")
	token := regexp.MustCompile(`name="token" value="(\w+)"`).FindStringSubmatch(now)
	if token == nil {
		t.Fatalf("no form:\n%s", now)
	}
	right, host := url.Values{"token": {token[1]}}, url.Values{"token": {token[1]}, "host": {"busy.example"}}
	for _, c := range []struct {
		path, origin string
		form         url.Values
		want         int
	}{
		{"/now/pause", "", nil, 403},
		{"/now/pause", "", url.Values{"token": {""}}, 403},
		{"/now/pause", "", url.Values{"token": {"guessed"}}, 403},
		{"/now/pause?token=" + token[1], "", nil, 403},
		{"/now/stop", "https://evil.example", right, 403},
		{"/now/pause", "", right, 303},
		{"/now/resume", server.URL, right, 303},
		{"/now/stop", "", right, 303},
		{"/now/block", "", url.Values{"host": {"busy.example"}}, 403},
		{"/now/block", "https://evil.example", host, 403},
		{"/now/block", "", right, 404},
		{"/now/pause", "", host, 404},
		{"/now/add", "", host, 404},
		{"/now/block", server.URL, host, 303},
		{"/now/unblock", "", host, 303},
	} {
		if got := post(t, server, c.path, c.form, c.origin); got != c.want {
			t.Errorf("POST %s with %v from %q: %d, want %d", c.path, c.form, c.origin, got, c.want)
		}
	}
	for _, path := range []string{"/now/pause", "/now/resume", "/now/block"} {
		if resp := ask(t, server.Client(), "GET", server.URL+path+"?token="+token[1], nil); resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %s", path, resp.Status)
		}
	}
	if got := strings.Join(f.told, ", "); got != "pause, resume, stop, block busy.example, unblock busy.example" {
		t.Errorf("the crawl was told: %s", got)
	}
}

func TestNow(t *testing.T) {
	f, server := newCrawlView(t)
	now := get(t, server, "/now")
	for _, want := range []string{"Crawling: 7 pages; about 1h30m left", "1 active, 1 waiting and 0 failing, of 2 hosts", "the host asked for a pause; next request in 9s", ">Pause<",
		`formaction="/now/block" name="host" value="slow.example">`, "exclude &lt;b&gt;", `formaction="/now/unblock" name="host" value="shut.example">`} {
		if !strings.Contains(now, want) {
			t.Errorf("it does not say %q\n%s", want, now)
		}
	}
	f.Order("pause", "")
	if now := get(t, server, "/now"); !strings.Contains(now, "Paused, no requests") || !strings.Contains(now, ">Resume<") {
		t.Errorf("it does not say that the crawl is paused\n%s", now)
	}
	for _, want := range []string{"<figcaption class=\"axis\"><span>0%</span><span>50%</span><span>100% of 7 pages</span>", `<i class="swatch waits" aria-hidden="true"></i>waiting`} {
		if !strings.Contains(now, want) {
			t.Errorf("it does not have %q\n%s", want, now)
		}
	}
	_, still := newView(t, small(t), func(o *Options) {
		o.Moment = momentOfTally
	})
	if now := get(t, still, "/now"); strings.Contains(now, "<button") || !strings.Contains(now, "In the store: 5 pages") {
		t.Errorf("of a store without a crawl:\n%s", now)
	}
	if now := get(t, still, "/now"); !strings.Contains(now, `<a href="/pages?kind=error&amp;status=404"><bdi>status 404</bdi></a>`) {
		t.Errorf("what failed is not listed by how:\n%s", now)
	}
	if got := post(t, still, "/now/stop", url.Values{"token": {"x"}}, ""); got != 404 {
		t.Errorf("a store without a crawl is told to stop: %d", got)
	}
}

// TestPulse checks that the number of samples stays within limits, however long a crawl runs, and
// that the graph of a steady crawl is right.
func TestPulse(t *testing.T) {
	var p pulse
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 100_000 {
		p.beat(start.Add(time.Duration(i)*time.Second), int64(20*i))
	}
	if n := len(p.samples); n < maxSamples/2 || n > maxSamples {
		t.Errorf("%d samples", n)
	}
	l := p.line()
	if l.Last != "20" || l.Middle != "20" || l.Most != "20" || strings.Contains(l.Curves[0].Points, "NaN") {
		t.Errorf("the line of a steady crawl is %+v", l)
	}
	if want := [3]string{"20", "10", "0"}; l.Y != want || l.X[2] != "now" || !strings.HasSuffix(l.X[0], " ago") {
		t.Errorf("the axes are labeled %q and %q", l.Y, l.X)
	}
	if first := p.samples[0]; first.at != start {
		t.Errorf("it begins at %v, want %v", first.at, start)
	}
}

// A store is at rest if its number of pages has not changed since the first sample.
func TestPulseAtRest(t *testing.T) {
	var p pulse
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		pages int64
		idle  bool
	}{{7, false}, {7, true}, {7, true}, {8, false}, {8, false}} {
		p.beat(start.Add(time.Duration(i)*time.Second), c.pages)
		if got := p.idle(); got != c.idle {
			t.Errorf("after %d looks it rests: %v", i+1, got)
		}
	}
}

// If no page is added to a store, the page "Now" says so, and shows no graph.
func TestNowAtRest(t *testing.T) {
	s := storetest.NewMemory()
	keep(t, s, testPage{url: "https://a.test/", text: words(0, 60)})
	v, server := newView(t, s, func(o *Options) { o.Moment = momentOfTally })
	v.pulse.beat(time.Now().Add(-2*time.Second), 1)
	if body := get(t, server, "/now"); !strings.Contains(body, "no page is being added at the moment") || strings.Contains(body, "<svg class=\"line\"") {
		t.Errorf("a store at rest is shown as\n%s", body)
	}
}
