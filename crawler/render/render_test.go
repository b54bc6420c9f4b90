package render

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// newBrowser returns a browser that ends with the test.
func newBrowser(t testing.TB, opt Options) *Browser {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Skip(err)
	}
	opt.Path = path
	b := New(opt)
	t.Cleanup(b.Close)
	return b
}

// A site answers requests from memory, and remembers them.
type site struct {
	answers map[string]string // by path; JavaScript if the path says so
	mu      sync.Mutex
	asked   []string // guarded by mu
}

func (s *site) fetch(_ context.Context, r Request) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL)
	body, ok := s.answers[strings.TrimPrefix(r.URL, "http://site.example")]
	if !ok {
		return Answer{}, fmt.Errorf("%s: not found", r.URL)
	}
	kind := "application/json"
	if strings.HasSuffix(r.URL, ".js") {
		kind = "text/javascript"
	}
	return Answer{http.StatusOK, http.Header{"Content-Type": {kind}}, []byte(body)}, nil
}

func page(html string) Page {
	return Page{URL: "http://site.example/", Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(html)}
}

func TestDraw(t *testing.T) {
	b := newBrowser(t, Options{})
	s := &site{answers: map[string]string{
		"/main.js":   `const r = await fetch('/data.json'); document.getElementById('root').textContent = (await r.json()).text; import('/more.js')`,
		"/data.json": `{"text":"drawn from data"}`,
		"/more.js":   `setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p>and later</p>'), 100)`,
	}}
	began := time.Now()
	d, err := b.Draw(t.Context(), page(`<html lang=en><title>App</title><link rel=stylesheet href=/a.css><noscript>no scripts</noscript><div id=root></div><img src=/a.png><script type=module src=/main.js></script>`), s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began), s.asked, string(d.HTML))
	for _, want := range []string{`<html lang="en">`, "drawn from data", "and later"} {
		if !strings.Contains(string(d.HTML), want) {
			t.Errorf("the drawn page lacks %q", want)
		}
	}
	if strings.Contains(string(d.HTML), "no scripts") || d.Cut || d.Goes != "" {
		t.Errorf("%+v", d)
	}
	if want := []string{"http://site.example/main.js", "http://site.example/data.json", "http://site.example/more.js"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
	began = time.Now()
	d, err = b.Draw(t.Context(), page(`<body><script>document.body.append('hi')</script>`), s.fetch)
	t.Log(time.Since(began), err, string(d.HTML))
	for _, m := range group(b.now.process.cmd.Process.Pid) {
		t.Log(m, m.resident>>20)
	}
}
