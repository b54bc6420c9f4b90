package folder

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestSitesName(t *testing.T) {
	tests := []struct{ dir, want string }{
		{"/srv/docs", "docs.localhost"},
		{"/srv/docs/", "docs.localhost"},
		{"/srv/My Docs_v1.2", "my-docs-v1-2.localhost"},
		{"/srv/-a--b-", "a-b.localhost"},
		{"/srv/xn--e1afmkfd", "xn-e1afmkfd.localhost"}, // a name with "xn--" would be read as Punycode
		{"/srv/2024", "2024.localhost"},
		{"/srv/документы", "folder.localhost"},
		{"/srv/...", "folder.localhost"},
		{"/", "folder.localhost"},
		{"/srv/" + strings.Repeat("a", 55) + "-b", strings.Repeat("a", 55) + ".localhost"},
	}
	for _, tt := range tests {
		if got := Sites([]string{tt.dir})[0].Host; got != tt.want {
			t.Errorf("Sites(%q) = %q, want %q", tt.dir, got, tt.want)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if got, want := Sites([]string{"."}), Sites([]string{dir}); !slices.Equal(got, want) {
		t.Errorf("Sites(.) = %q, want %q", got, want)
	}
}

func TestSites(t *testing.T) {
	got := Sites([]string{"/a/docs", "/b/docs", "/a/docs/", "/docs-2", "/c/../a/docs", "/c/docs", "/d"})
	want := []Site{
		{"docs.localhost", "/a/docs"},
		{"docs-2.localhost", "/b/docs"},
		{"docs-2-2.localhost", "/docs-2"},
		{"docs-3.localhost", "/c/docs"},
		{"d.localhost", "/d"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// writeSite unpacks a txtar archive into a new folder with the given name.
func writeSite(t *testing.T, name, archive string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// start serves sites until the test ends.
func start(t *testing.T, sites ...Site) *Server {
	t.Helper()
	s, err := Serve(sites, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// An answer is the response for a URL.
type answer struct {
	status              int
	typ, location, body string
}

// get requests a URL from a server, and uses Serves to find the address, like the crawler.
func get(t *testing.T, s *Server, url string) (a answer) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if address := request.Host + ":80"; !s.Serves(address) {
		t.Fatalf("%s is not served", address)
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Address())
	}}
	resp, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a = answer{status: resp.StatusCode, typ: resp.Header.Get("Content-Type"), body: string(body)}
	if to, err := resp.Location(); err == nil {
		a.location = to.String()
	}
	return a
}

const site = `
-- index.html --
<title>Home</title>
-- robots.txt --
User-agent: *
-- about --
<!DOCTYPE html><title>About</title>
-- page.php?id=3 --
<html><title>Three</title>
-- data.bin --
` + "\x00\x01\x02\x03" + `
-- feed.xml --
<?xml version="1.0" encoding="koi8-r"?><rss/>
-- page.xhtml --
<html xmlns="http://www.w3.org/1999/xhtml"/>
-- old/index.htm --
<title>Old</title>
-- list/b.txt --
b
-- list/a & <b>.html --
a
-- list/a:b.html --
colon
-- list/100%.html --
percent
-- list/sub/x.html --
x
-- list/.hidden --
secret
`

func TestServe(t *testing.T) {
	dir := writeSite(t, "My Site", site)
	outside := filepath.Join(filepath.Dir(dir), "outside.html")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"inside.html": "index.html", "leak.html": outside, "up": "..", "up.html": "../outside.html"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe.html")).Run(); err != nil {
		t.Logf("without a named pipe: %v", err) // the row of the pipe still passes, because the file does not exist
	}
	tests := []struct {
		path     string
		status   int
		typ      string
		body     string // text that the body must contain
		location string
	}{
		{path: "/", status: 200, typ: "text/html", body: "Home"},
		{path: "/index.html", status: 200, typ: "text/html", body: "Home"},
		{path: "/index.html?a=b", status: 200, typ: "text/html", body: "Home"},
		{path: "/robots.txt", status: 200, typ: "text/plain", body: "User-agent"},
		{path: "/about", status: 200, typ: "text/html", body: "About"},
		{path: "/page.php%3Fid=3", status: 200, typ: "text/html", body: "Three"},
		{path: "/page.php?id=3", status: 404},
		{path: "/data.bin", status: 200, typ: "application/octet-stream"},
		{path: "/feed.xml", status: 200, typ: "text/xml", body: "koi8-r"},
		{path: "/page.xhtml", status: 200, typ: "application/xhtml+xml"},
		{path: "/old", status: 301, location: "/old/"},
		{path: "/old/", status: 200, typ: "text/html", body: "Old"},
		{path: "//old", status: 301, location: "//old/"}, // the redirect must not lead to a host called old
		{path: "/list/", status: 200, typ: "application/atom+xml; charset=utf-8", body: `href="./b.txt"`},
		{path: "/list/b.txt", status: 200, typ: "text/plain", body: "b"},
		{path: "/list/a%20&%20%3Cb%3E.html", status: 200, body: "a", typ: "text/html"},
		{path: "/list/100%25.html", status: 200, body: "percent", typ: "text/html"},
		{path: "/list/b.txt/", status: 404},
		{path: "/missing.html", status: 404},
		{path: "/%00", status: 404},
		{path: "/inside.html", status: 200, typ: "text/html", body: "Home"},
		{path: "/leak.html", status: 404},
		{path: "/up.html", status: 404},
		{path: "/up/", status: 404},
		{path: "/..%2Foutside.html", status: 404},
		{path: "/pipe.html", status: 404},
	}
	s := start(t, Sites([]string{dir})...)
	base := "http://my-site.localhost"
	for _, tt := range tests {
		p := get(t, s, base+tt.path)
		if p.status != tt.status || !strings.Contains(p.body, tt.body) {
			t.Errorf("%s: got %d %.40q, want %d with %q", tt.path, p.status, p.body, tt.status, tt.body)
		}
		if tt.typ != "" && p.typ != tt.typ {
			t.Errorf("%s: got type %q, want %q", tt.path, p.typ, tt.typ)
		}
		if want := tt.location; want != "" && p.location != base+want {
			t.Errorf("%s: got location %q, want %q", tt.path, p.location, base+want)
		}
	}
}

func TestListing(t *testing.T) {
	dir := writeSite(t, "site", site)
	s := start(t, Site{"site.localhost", filepath.Join(dir, "list")})
	p := get(t, s, "http://site.localhost/")
	const want = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Files</title>
<entry><link href="./100%25.html"/></entry>
<entry><link href="./a%20&amp;%20%3Cb%3E.html"/></entry>
<entry><link href="./a:b.html"/></entry>
<entry><link href="./b.txt"/></entry>
<entry><link href="./sub/"/></entry>
</feed>
`
	if p.body != want {
		t.Errorf("got\n%s\nwant\n%s", p.body, want)
	}
}

// A store in a folder and hidden files are not part of the site, no matter how their URLs are
// written.
func TestHides(t *testing.T) {
	dir := writeSite(t, "site", `
-- a.html --
a
-- feed.jsonl --
feed
-- store/MANIFEST --
m
-- store/KEYREGISTRY --
k
-- store/deep/x.html --
x
-- ship/MANIFEST --
a list of goods
-- tmp/x.html --
x
`)
	links := map[string]string{"store": "data", "feed.jsonl": "latest"}
	for target, link := range links {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	sites := []Site{{"site.localhost", dir}, {"store.localhost", filepath.Join(dir, "store")}}
	s, err := Serve(sites, []string{filepath.Join(dir, "feed.jsonl"), filepath.Join(dir, "tmp"), filepath.Join(dir, "missing")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for url, want := range map[string]int{
		"http://site.localhost/":                  200,
		"http://site.localhost/a.html":            200,
		"http://site.localhost/ship/":             200,
		"http://site.localhost/ship/MANIFEST":     200,
		"http://site.localhost/feed.jsonl":        404,
		"http://site.localhost/latest":            404,
		"http://site.localhost/tmp/":              404,
		"http://site.localhost/tmp/x.html":        404,
		"http://site.localhost/store":             404,
		"http://site.localhost/store/":            404,
		"http://site.localhost/store/MANIFEST":    404,
		"http://site.localhost/store/deep/x.html": 404,
		"http://site.localhost/data/MANIFEST":     404,
		"http://store.localhost/":                 404,
		"http://store.localhost/deep/x.html":      404,
	} {
		if p := get(t, s, url); p.status != want {
			t.Errorf("%s: got %d, want %d", url, p.status, want)
		}
	}
	p := get(t, s, "http://site.localhost/")
	for name, want := range map[string]bool{"a.html": true, "ship": true, "feed.jsonl": false, "latest": false, "store": false, "data": false, "tmp": false} {
		if got := strings.Contains(p.body, "./"+name); got != want {
			t.Errorf("%s is listed: %v, want %v", name, got, want)
		}
	}
}

// Files whose names begin with a dot are not served, no matter how their URLs are written.
func TestDotFiles(t *testing.T) {
	dir := writeSite(t, ".site", `
-- index.html --
<a href=".env">
-- .env --
PASSWORD=x
-- .git/config --
[core]
-- .git/index.html --
git
-- a/.hidden/x.html --
x
-- a/b.html --
b
-- .data/x.html --
x
`)
	for link, target := range map[string]string{"shown.html": ".data/x.html", "shown": ".data"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	s := start(t, Site{"site.localhost", dir})
	for path, want := range map[string]int{
		"/": 200, "/a/b.html": 200, "/./a/../a/b.html": 200, "/shown.html": 200, // the name of the symbolic link counts
		"/.env": 404, "/%2eenv": 404, "/a/..%2F.env": 404, "/.git": 404, "/.git/": 404, "/.git/config": 404, "/.git/index.html": 404,
		"/a/.hidden/": 404, "/a/.hidden/x.html": 404, "/shown/": 404, "/shown/x.html": 404, "/.env/": 404, "/...": 404,
	} {
		if p := get(t, s, "http://site.localhost"+path); p.status != want {
			t.Errorf("%s: got %d, want %d", path, p.status, want)
		}
	}
}

func TestServeMissing(t *testing.T) {
	s, err := Serve([]Site{{"a.localhost", t.TempDir()}, {"gone.localhost", filepath.Join(t.TempDir(), "gone")}}, nil)
	if err == nil || !strings.Contains(err.Error(), "gone") {
		s.Close()
		t.Errorf("got %v, want which folder is not there", err)
	}
}
