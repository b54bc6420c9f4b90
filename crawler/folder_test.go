package crawler

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestFolderHost(t *testing.T) {
	tests := []struct{ dir, want string }{
		{"/srv/docs", "docs.localhost"},
		{"/srv/docs/", "docs.localhost"},
		{"/srv/My Docs_v1.2", "my-docs-v1-2.localhost"},
		{"/srv/-a--b-", "a-b.localhost"},
		{"/srv/xn--e1afmkfd", "xn-e1afmkfd.localhost"}, // which would not be Punycode
		{"/srv/2024", "2024.localhost"},
		{"/srv/документы", "folder.localhost"},
		{"/srv/...", "folder.localhost"},
		{"/", "folder.localhost"},
		{"/srv/" + strings.Repeat("a", 55) + "-b", strings.Repeat("a", 55) + ".localhost"},
	}
	for _, tt := range tests {
		if got := FolderHosts([]string{tt.dir})[0].Host; got != tt.want {
			t.Errorf("FolderHosts(%q) = %q, want %q", tt.dir, got, tt.want)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if got, want := FolderHosts([]string{"."}), FolderHosts([]string{dir}); !slices.Equal(got, want) {
		t.Errorf("FolderHosts(.) = %q, want %q", got, want)
	}
}

func TestFolderHosts(t *testing.T) {
	got := FolderHosts([]string{"/a/docs", "/b/docs", "/a/docs/", "/docs-2", "/c/../a/docs", "/c/docs", "/d"})
	want := []Folder{
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

// writeSite unpacks a txtar archive into a new folder of that name.
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

func TestFolder(t *testing.T) {
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
		t.Logf("without a named pipe: %v", err) // and its row shows only that there is none
	}
	tests := []struct {
		path     string
		status   int
		typ      string
		body     string // part of it
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
		{path: "//old", status: 301, location: "//old/"}, // not to a host called old
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
	folders := FolderHosts([]string{dir})
	f := testFetcher(t, func(o *Options) { o.Folders = folders })
	base := "http://my-site.localhost"
	for _, tt := range tests {
		p := f.fetch(t.Context(), item(base+tt.path))
		if p.Status != tt.status || !strings.Contains(string(p.Body), tt.body) {
			t.Errorf("%s: got %d %q %q %.40q, want %d with %q", tt.path, p.Status, p.Problem, p.Detail, p.Body, tt.status, tt.body)
		}
		if got := p.Header.Get("Content-Type"); tt.typ != "" && got != tt.typ {
			t.Errorf("%s: got type %q, want %q", tt.path, got, tt.typ)
		}
		if want := tt.location; want != "" && p.Location != base+want {
			t.Errorf("%s: got location %q, want %q", tt.path, p.Location, base+want)
		}
	}
}

func TestFolderListing(t *testing.T) {
	dir := writeSite(t, "site", site)
	f := testFetcher(t, func(o *Options) { o.Folders = []Folder{{"site.localhost", filepath.Join(dir, "list")}} })
	p := f.fetch(t.Context(), item("http://site.localhost/"))
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
	if string(p.Body) != want {
		t.Errorf("got\n%s\nwant\n%s", p.Body, want)
	}
}

// A store in a folder is no part of the site, nor is what the options hide, however
// it is asked for.
func TestFolderHides(t *testing.T) {
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
	f := testFetcher(t, func(o *Options) {
		o.Folders = []Folder{{"site.localhost", dir}, {"store.localhost", filepath.Join(dir, "store")}}
		o.Hidden = []string{filepath.Join(dir, "feed.jsonl"), filepath.Join(dir, "tmp"), filepath.Join(dir, "missing")}
	})
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
		if p := f.fetch(t.Context(), item(url)); p.Status != want {
			t.Errorf("%s: got %d, want %d", url, p.Status, want)
		}
	}
	p := f.fetch(t.Context(), item("http://site.localhost/"))
	for name, want := range map[string]bool{"a.html": true, "ship": true, "feed.jsonl": false, "latest": false, "store": false, "data": false, "tmp": false} {
		if got := strings.Contains(string(p.Body), "./"+name); got != want {
			t.Errorf("%s is listed: %v, want %v", name, got, want)
		}
	}
}

// A name that begins with a dot is not there, whoever asks for it and however.
func TestFolderDotFiles(t *testing.T) {
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
	f := testFetcher(t, func(o *Options) { o.Folders = []Folder{{"site.localhost", dir}} })
	for path, want := range map[string]int{
		"/": 200, "/a/b.html": 200, "/./a/../a/b.html": 200, "/shown.html": 200, // as its link is called
		"/.env": 404, "/%2eenv": 404, "/a/..%2F.env": 404, "/.git": 404, "/.git/": 404, "/.git/config": 404, "/.git/index.html": 404,
		"/a/.hidden/": 404, "/a/.hidden/x.html": 404, "/shown/": 404, "/shown/x.html": 404, "/.env/": 404, "/...": 404,
	} {
		if p := f.fetch(t.Context(), item("http://site.localhost"+path)); p.Status != want {
			t.Errorf("%s: got %d, want %d", path, p.Status, want)
		}
	}
}

// TestFolderLoops crawls a folder whose symbolic links lead back into it. Each page is
// there once; each link costs a redirect in each folder that has it, and no more.
func TestFolderLoops(t *testing.T) {
	dir := writeSite(t, "site", "-- a/one.html --\none\n-- b/two.html --\ntwo\n-- b/c/three.html --\nthree\n")
	for _, link := range []string{"self", "again", "more", "b/top", "b/c/up", "a/b"} {
		target := map[string]string{"b/top": "..", "b/c/up": "..", "a/b": "../b"}[link]
		if target == "" {
			target = "."
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	k := newKeeper(t, "http://site.localhost/")
	opt := Defaults()
	opt.Folders, opt.Scope = []Folder{{"site.localhost", dir}}, newScope(t, ScopeHost, nil, nil, "http://site.localhost/")
	opt.MaxPages = 100 // or a loop would go on to the longest URL
	c, err := New(k.front, opt, k)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "pages", k.outcomes("http://site.localhost", ""), strings.TrimSpace(`
/ 200
/a/ 200
/a/b 301
/a/one.html 200
/again 301
/b/ 200
/b/c/ 200
/b/c/three.html 200
/b/c/up 301
/b/top 301
/b/two.html 200
/more 301
/self 301`))
}

// TestFolderRobotsElsewhere: no robots.txt of another host leads into a folder.
func TestFolderRobotsElsewhere(t *testing.T) {
	dir := writeSite(t, "site", "-- secret.txt --\nUser-agent: *\nDisallow: /\n")
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://site.localhost/secret.txt", http.StatusFound)
	})
	f := testFetcher(t, func(o *Options) { o.Folders = []Folder{{"site.localhost", dir}} }, host)
	if status, body, err := f.fetchRobots(t.Context(), "http://"+host+"/robots.txt"); status != 302 || body != nil || err != nil {
		t.Errorf("got %d %q %v, want the redirect", status, body, err)
	}
}

// TestFolderIsNoWayIn: that a folder is served on loopback opens nothing else
// there.
func TestFolderIsNoWayIn(t *testing.T) {
	one, two := writeSite(t, "one", "-- a.html --\none"), writeSite(t, "two", "-- a.html --\ntwo")
	f := testFetcher(t, func(o *Options) { o.Folders = FolderHosts([]string{one, two}) })
	tests := []struct {
		url     string
		body    string
		problem Problem
	}{
		{"http://one.localhost/a.html", "one", ""},
		{"http://two.localhost/a.html", "two", ""},
		{"http://three.localhost/a.html", "", ProblemPrivate},
		{"http://one.localhost:8080/a.html", "", ProblemPrivate},
		{"https://one.localhost/a.html", "", ProblemPrivate},
		{"http://" + f.folders.address() + "/a.html", "", ProblemPrivate},
	}
	for _, tt := range tests {
		p := f.fetch(t.Context(), item(tt.url))
		if p.Problem != tt.problem || strings.TrimSpace(string(p.Body)) != tt.body {
			t.Errorf("%s: got %q %q %q, want %q %q", tt.url, p.Problem, p.Detail, p.Body, tt.problem, tt.body)
		}
	}
	resp, err := http.Get("http://" + f.folders.address() + "/a.html") // by an address that is no site's name
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("without the folder's name: got %s", resp.Status)
	}
}

func TestFolderMissing(t *testing.T) {
	opt := Defaults()
	opt.Folders = []Folder{{"a.localhost", t.TempDir()}, {"gone.localhost", filepath.Join(t.TempDir(), "gone")}}
	if f, err := newFetcher(opt); err == nil || !strings.Contains(err.Error(), "gone") {
		if f != nil {
			f.close()
		}
		t.Errorf("got %v, want which folder is not there", err)
	}
}
