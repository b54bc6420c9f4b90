package e2e

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/store/badger"
	"skink/warc"
)

// A picturedSite is a site whose home page is green only with its style sheet and its image.
func picturedSite(t *testing.T, robots string) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<title>Green</title><link rel=stylesheet href=/a.css><p>A page that is green. %s</p><img src=/b.svg>`, rivers)
	})
	mux.HandleFunc("/a.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "body { margin: 0; background: #00ff00 } p { height: 200px; overflow: hidden; margin: 0 } img { display: block; width: 1280px; height: 300px }")
	})
	mux.HandleFunc("/b.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" preserveAspectRatio="none"><rect width="10" height="10" fill="#0000ff"/></svg>`)
	})
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, robots) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestScreenshots checks that the pictures of pages show the pages, pass the same gates as the pages, and
// are no pages for readers of archives.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	open, closed, secret := picturedSite(t, ""), picturedSite(t, "User-agent: *\nContent-Signal: ai-train=no\n"), picturedSite(t, "")
	dir := t.TempDir()
	host := strings.TrimPrefix(secret.URL, "http://")
	writeText(t, filepath.Join(dir, "skink.toml"), fmt.Sprintf("[host.%q]\nheaders = { \"X-Token\" = \"abc\" }\n", host))
	crawl := []string{"crawl", "--quiet", "--store", "store", "--delay", "0", "--render", "always", "--warc", "kept", "--screenshots"}
	runIn(t, dir, append(crawl, "--config", "skink.toml", open.URL, closed.URL, secret.URL)...)

	for _, site := range []*httptest.Server{open, closed, secret} {
		private := site == secret
		for prefix, width := range map[string]int{warc.ViewPrefix: 1280, warc.ThumbnailPrefix: 320} {
			shot := recordOf(t, dir, "kept/*.warc.gz", prefix+site.URL+"/", private)
			if shot == nil {
				t.Errorf("%s%s: no record, private: %v", prefix, site.URL, private)
				continue
			}
			img, _, err := image.Decode(bytes.NewReader(shot))
			if err != nil || img.Bounds().Dx() != width {
				t.Errorf("%s%s: %v, want a picture %d wide", prefix, site.URL, err, width)
				continue
			}
			if r, g, b, _ := img.At(width/2, width*3/10).RGBA(); b < 0xF000 || r|g > 0x1000 {
				t.Errorf("%s%s: the image is missing", prefix, site.URL)
			}
			if r, g, b, _ := img.At(width/2, width*3/4).RGBA(); g < 0xF000 || r|b > 0x1000 {
				t.Errorf("%s%s: the style sheet is missing", prefix, site.URL)
			}
		}
	}

	pictures := slices.DeleteFunc(indexedURLs(t, dir, "kept"), func(url string) bool { return !strings.HasPrefix(url, "urn:") })
	if len(pictures) != 6 {
		t.Errorf("the indexes have these pictures, want 6: %q", pictures)
	}

	runIn(t, dir, append(crawl, "--config", "skink.toml", "--recrawl", "0s")...)
	s, err := badger.Open(filepath.Join(dir, "store"), badger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, s, filepath.Join(dir, "kept"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	page := startView(t, dir) + "/page/" + url.PathEscape(open.URL+"/")
	if text := get(t, page); !strings.Contains(string(text), "/picture\" alt=") {
		t.Error("the view of the page has no picture")
	}
	if img, _, err := image.Decode(bytes.NewReader(get(t, page+"/picture"))); err != nil || img.Bounds().Dx() != 320 {
		t.Errorf("the picture in the view: %v", err)
	}

	runIn(t, dir, "export", "--store", "store", "--format", "wacz", "--without", "ai-train=no", "--out", "s.wacz")
	content, err := os.ReadFile(filepath.Join(dir, "s.wacz"))
	if err != nil {
		t.Fatal(err)
	}
	packed := unpacked(t, content)
	runIn(t, dir, "crawl", "--quiet", "--store", "packed", "--from", "s.wacz")
	pages := string(runIn(t, dir, "export", "--store", "packed", "--format", "jsonl"))
	if strings.Count(pages, "\n") != 1 || !strings.Contains(pages, open.URL) || strings.Contains(pages, "urn:") {
		t.Errorf("the pages of the package: %s", pages)
	}
	for _, site := range []*httptest.Server{closed, secret} {
		if strings.Contains(packed, warc.ViewPrefix+site.URL) || strings.Contains(packed, warc.ThumbnailPrefix+site.URL) {
			t.Errorf("the package has a picture of %s", site.URL)
		}
	}
	if !strings.Contains(packed, warc.ViewPrefix+open.URL) {
		t.Error("the package has no picture of the open site")
	}
	again := exec.Command("skink", "crawl", "--store", "again", "--from", "kept")
	again.Dir = dir
	if said, err := again.CombinedOutput(); err != nil || !strings.Contains(string(said), "screenshot: 12") {
		t.Errorf("the screenshots are not counted: %s", said)
	}
}

// recordOf returns the block of the resource record with a URI in files that are private or not, or nil.
func recordOf(t *testing.T, dir, pattern, uri string, private bool) []byte {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, name := range names {
		if strings.Contains(name, "-private") != private {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for r := warc.NewReader(f); ; {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.Type() == warc.Resource && rec.URI() == uri {
				block, err := io.ReadAll(rec.Block)
				if err != nil {
					t.Fatal(err)
				}
				return block
			}
		}
	}
	return nil
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return body
}
