package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skink/crawler/render"
)

// The section of a host says what its rendered pages wait for. The text of a frame of the same origin
// is text of the page, and the frame is fetched by the rules of the crawl.
func TestWaitOfHost(t *testing.T) {
	t.Parallel()
	if _, err := render.Find(); err != nil {
		t.Skip(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /closed\n")
		case "/frame", "/closed":
			fmt.Fprintf(w, "<p>The harbour opens at high tide, says the page %s.", r.URL.Path)
		default:
			fmt.Fprintf(w, `<title>Tides</title><main><p>%s</p><iframe src=/frame></iframe><iframe src=/closed></iframe><details ontoggle="this.insertAdjacentText('beforeend', 'The details of the tides are shown.')"></details></main><script>setTimeout(() =>
				document.querySelector('main').insertAdjacentHTML('beforeend', '<p id=late>The last line of the page is drawn late.</p>'), 1200)</script>`,
				strings.Repeat("The pilots of the harbour read the tide from the old gauge. ", 9))
		}
	}))
	t.Cleanup(site.Close)
	dir, host := t.TempDir(), strings.TrimPrefix(site.URL, "http://")
	file, data := filepath.Join(dir, "skink.toml"), filepath.Join(dir, "data")
	crawl := func(selector string) (string, error) {
		text := fmt.Sprintf("delay = \"0s\"\n[host.%q]\nrender = \"always\"\nrender-wait = \"10ms\"\nrender-wait-for = %q\nrender-behaviors = [\"details\"]\n", host, selector)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return skink(t, nil, "crawl", "--config", file, "--store", data, "--max-pages", "1", site.URL+"/")
	}
	if out, err := crawl("main >"); err == nil || !strings.Contains(out, `render-wait-for "main >": main: "main >" must be a CSS selector`) {
		t.Errorf("a wrong selector: %v\n%s", err, out)
	}
	if out, err := crawl("main > #late"); err != nil {
		t.Fatal(err, out)
	}
	out, err := skink(t, nil, "export", "--store", data)
	if err != nil {
		t.Fatal(err, out)
	}
	if !strings.Contains(out, "drawn late") || !strings.Contains(out, "says the page /frame") || !strings.Contains(out, "The details of the tides are shown.") || strings.Contains(out, "/closed.") {
		t.Errorf("the late line, the frame or the details are missing, or a forbidden frame is shown: %s", out)
	}
}
