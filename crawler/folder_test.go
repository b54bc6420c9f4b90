package crawler

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"skink/crawler/folder"
)

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

// TestFolderLoops crawls a folder whose symbolic links lead back into it. Each page is found once.
// Each link costs one redirect in each folder that contains the link.
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
	opt.Folders, opt.Scope = []folder.Site{{Host: "site.localhost", Dir: dir}}, newScope(t, ScopeHost, nil, nil, "http://site.localhost/")
	opt.MaxPages = 100 // without a limit, a loop would continue up to the longest URL
	k.crawl(t, opt)
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

// A robots.txt of another host that redirects into a folder is not followed.
func TestFolderRobotsElsewhere(t *testing.T) {
	dir := writeSite(t, "site", "-- secret.txt --\nUser-agent: *\nDisallow: /\n")
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://site.localhost/secret.txt", http.StatusFound)
	})
	f := testFetcher(t, func(o *Options) { o.Folders = []folder.Site{{Host: "site.localhost", Dir: dir}} }, host)
	if status, body, err := f.fetchRobots(t.Context(), "http://"+host+"/robots.txt"); status != 302 || body != nil || err != nil {
		t.Errorf("got %d %q %v, want the redirect", status, body, err)
	}
}

// Folders are served on loopback, but this does not allow connections to other addresses on
// loopback.
func TestFolderIsNoWayIn(t *testing.T) {
	one, two := writeSite(t, "one", "-- a.html --\none"), writeSite(t, "two", "-- a.html --\ntwo")
	f := testFetcher(t, func(o *Options) { o.Folders = folder.Sites([]string{one, two}) })
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
		{"http://" + f.folders.Address() + "/a.html", "", ProblemPrivate},
	}
	for _, tt := range tests {
		p := f.fetch(t.Context(), item(tt.url))
		if p.Problem != tt.problem || strings.TrimSpace(string(p.Body)) != tt.body {
			t.Errorf("%s: got %q %q %q, want %q %q", tt.url, p.Problem, p.Detail, p.Body, tt.problem, tt.body)
		}
	}
	resp, err := http.Get("http://" + f.folders.Address() + "/a.html") // the address is not the name of a site
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("without the folder's name: got %s", resp.Status)
	}
}
