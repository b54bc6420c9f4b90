package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestConfig crawls with a configuration file that has a token for one host. The host requires the
// token, and links and redirects to another host that must not get the token. The token must not be
// in any file or output of the crawl. A second crawl must use the copy of the configuration in the
// store.
func TestConfig(t *testing.T) {
	t.Parallel()
	const token = "very-secret-token-4711"
	dir := t.TempDir()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), token) {
				t.Errorf("the other host gets %s: %s", name, values)
			}
		}
		fmt.Fprint(w, "<title>Other</title><main><p>A page of another host, which needs no token at all.</p></main>")
	}))
	t.Cleanup(other.Close)
	intranet := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Token") != token:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL+"/moved", http.StatusFound)
		case r.URL.Path == "/":
			fmt.Fprintf(w, `<title>Intranet</title><main><p>The first page of the intranet, for those who have the token.</p><a href="/two">two</a> <a href="/away">away</a> <a href="%s/">other</a></main>`, other.URL)
		default:
			fmt.Fprint(w, "<title>Two</title><main><p>The second page says something else, also for those who have it.</p></main>")
		}
	}))
	t.Cleanup(intranet.Close)
	file := filepath.Join(dir, "skink.toml")
	config := fmt.Sprintf(`
delay = "0s"                      # any flag by its long name
scope = "any"
warc = %q
log-format = "json"

[host.%q]
headers = { "X-Token" = "${SKINK_TOKEN}" }

[host."*.example.com".login]
page = "https://www.example.com/login"
fields = { user = "me", password = "${EXAMPLE_PASSWORD}" }
check = "Log out"
`, filepath.Join(dir, "archive"), strings.TrimPrefix(intranet.URL, "http://"))
	if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	env := []string{"SKINK_TOKEN=" + token, "EXAMPLE_PASSWORD=" + token}
	var said bytes.Buffer
	skinkWith := func(env []string, args ...string) {
		t.Helper()
		out, err := skink(t, env, args...)
		said.WriteString(out)
		if err != nil {
			t.Fatalf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	skinkWith(env, "crawl", "--config", file, "--store", data, intranet.URL+"/", other.URL+"/")
	skinkWith(env, "crawl", "--store", data, "--recrawl", "0s") // uses the copy of the configuration in the store
	skinkWith(nil, "report", "--store", data)
	skinkWith(nil, "export", "--store", data, "--include", "all", "--with-private")
	skinkWith(nil, "status", "--store", data, "--urls", "all", "--format", "json")
	for _, want := range []string{`"title":"Intranet"`, `"title":"Two"`, `"title":"Other"`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing says %s:\n%s", want, said.String())
		}
	}
	if out, err := skink(t, nil, "export", "--store", data, "--include", "all"); err != nil || strings.Contains(out, "Intranet") || !strings.Contains(out, `"title":"Other"`) ||
		!strings.Contains(out, "left out 2 pages: 2 private") {
		t.Errorf("an export without private pages: %v\n%s", err, out)
	}
	if strings.Contains(said.String(), token) {
		t.Error("the commands say the token")
	}
	if out, err := skink(t, nil, "crawl", "--store", data, "--recrawl", "0s"); err == nil || !strings.Contains(out, "the environment variable EXAMPLE_PASSWORD is not set") {
		t.Errorf("without the variable: %v\n%s", err, out)
	}
	holdsNone(t, dir, token)
	copied, err := os.Stat(filepath.Join(data, "skink.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if copied.Mode().Perm() != 0o600 {
		t.Errorf("the copy of the file has mode %v", copied.Mode())
	}
}

// TestConfigWithoutSecrets crawls with a password in the configuration file itself. Neither the
// store nor its copy contains the password. A run without it does not start, and --config gives it.
func TestConfigWithoutSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sesame-4716"
	dir := t.TempDir()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<main><p>Only members read this.</p></main>")
	}))
	t.Cleanup(site.Close)
	host := strings.TrimPrefix(site.URL, "http://")
	file, store, copied, own := filepath.Join(t.TempDir(), "skink.toml"), filepath.Join(dir, "store"), filepath.Join(dir, "copied"), filepath.Join(dir, "own")
	text := fmt.Sprintf("delay = \"0s\"\n# password = %[2]q\n[host.%[1]q]\nuser = \"me\" # not %[2]s\npassword = %[2]q\n", host, secret)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := skink(t, nil, args...); err != nil || strings.Contains(out, secret) {
			t.Errorf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("crawl", "--config", file, "--store", store, site.URL+"/")
	run("store", "copy", store, copied)
	holdsNone(t, dir, secret)
	for _, s := range []string{store, copied} {
		out, err := skink(t, nil, "crawl", "--store", s, "--recrawl", "0s")
		if want := "this copy lacks host " + host + " password: name the original file with --config FILE"; err == nil || !strings.Contains(out, want) {
			t.Errorf("without the file: %v\n%s", err, out)
		}
		run("report", "--store", s)
		run("crawl", "--config", file, "--store", s, "--recrawl", "0s")
	}

	// A file of the user's own in the folder of a store is not changed, and its copy has no secrets.
	if err := os.WriteFile(filepath.Join(store, "skink.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run("crawl", "--store", store, "--recrawl", "0s")
	run("store", "copy", store, own)
	holdsNone(t, own, secret)
}

// holdsNone checks that no file in a folder contains a text, not even in compressed form.
func holdsNone(t *testing.T, dir, text string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				return err
			}
			if content, err = io.ReadAll(z); err != nil {
				return err
			}
			if !bytes.Contains(content, []byte("WARC/1.1")) {
				t.Errorf("%s is no archive", name)
			}
		}
		if bytes.Contains(content, []byte(text)) {
			t.Errorf("%s holds the secret", name)
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Errorf("%d files: %v", files, err)
	}
}

// skink runs the program with additional environment variables, and returns its combined output.
func skink(t *testing.T, env []string, args ...string) (said string, err error) {
	t.Helper()
	cmd := exec.Command("skink", args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestLogin crawls a site that requires a login, and whose session expires during the crawl. All
// pages must be found, and neither the password nor the session may be in any file or output of the
// crawl.
func TestLogin(t *testing.T) {
	t.Parallel()
	const secret = "very-secret-4713"
	dir := t.TempDir()
	var mu sync.Mutex
	sessions, shown := 0, 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sid, err := r.Cookie("sid")
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/login" && r.Method == http.MethodPost:
			if r.FormValue("password") != secret {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			sessions, shown = sessions+1, 0
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: fmt.Sprintf("%s-%d", secret, sessions), Path: "/"})
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case r.URL.Path == "/login":
			fmt.Fprint(w, "<form method=post><input name=user><input name=password type=password></form>")
		case err != nil || sid.Value != fmt.Sprintf("%s-%d", secret, sessions) || shown >= 4:
			http.Redirect(w, r, "/login", http.StatusFound)
		case r.URL.Path == "/logout":
			t.Error("the logout link was followed")
		case len(r.URL.Path) > 2:
			http.NotFound(w, r)
		default:
			shown++
			fmt.Fprintf(w, "<title>Page %[1]s</title><main><p>What members read at %[1]s.</p></main><a href=/logout>Log out</a>", r.URL.Path)
			for i := range 9 {
				fmt.Fprintf(w, "<a href=/%d>%d</a> ", i, i)
			}
		}
	}))
	t.Cleanup(site.Close)
	host := strings.TrimPrefix(site.URL, "http://")
	config := fmt.Sprintf(`
delay = "0s"
warc = %q

[host.%q.login]
page = "%s/login"
fields = { user = "me", password = "${PASSWORD}" }
check = "Log out"
`, filepath.Join(dir, "archive"), host, site.URL)
	file := filepath.Join(dir, "skink.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	said := ""
	for _, args := range [][]string{
		{"crawl", "--config", file, "--store", data, site.URL + "/"},
		{"export", "--store", data, "--include", "all", "--with-private"},
		{"status", "--store", data, "--urls", "all", "--format", "json"},
	} {
		out, err := skink(t, []string{"PASSWORD=" + secret}, args...)
		if said += out; err != nil {
			t.Fatalf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if n := strings.Count(said, `"title":"Page /`); n != 10 {
		t.Errorf("%d pages, want 10:\n%s", n, said)
	}
	if sessions < 3 {
		t.Errorf("%d logins, although a session shows four pages", sessions)
	}
	if strings.Contains(said, secret) {
		t.Errorf("the commands say the secret:\n%s", said)
	}
	holdsNone(t, dir, secret)

	// With a wrong password, the message must help the user to correct it.
	out, err := skink(t, []string{"PASSWORD=wrong-4714"}, "crawl", "--config", file, "--store", filepath.Join(dir, "other"), site.URL+"/")
	if err == nil || !strings.Contains(out, "log in at "+site.URL+"/login: the check expects a page that contains \"Log out\", but the server returned 401 Unauthorized") || strings.Contains(out, "wrong-4714") {
		t.Errorf("with a wrong password: %v\n%s", err, out)
	}
}
