package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"skink/warc"
)

// TestExchanges fetches many URLs whose responses have no body, so each connection is free for the
// next request before the last exchange is over. Every archived request and response must belong to
// its URL, whose last part is an id. The secret of one host must not be in any record. A crawl from
// the archive must find every URL.
func TestExchanges(t *testing.T) {
	t.Parallel()
	n := 1500
	if os.Getenv("SKINK_LONG") == string(full) {
		n = 20_000
	}
	for name, through := range map[string]bool{"one host": false, "eight hosts, one proxy": true} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(answerEmpty))
			defer server.Close()
			hosts, config, args := []string{server.URL}, "", []string{"--per-host", "16"}
			if through {
				hosts = nil
				for i := range 8 {
					hosts = append(hosts, fmt.Sprintf("http://127.0.0.%d:81", i+2))
				}
				config = fmt.Sprintf("proxy = \"http://me:${SECRET}@%s\"\n[host.\"127.0.0.2:81\"]\nheaders = { \"X-Token\" = \"${SECRET}\" }\n", server.Listener.Addr())
				args = nil
			}
			exchanges(t, n, hosts, config, args...)
		})
	}
}

// answerEmpty answers with one of four empty responses, which contain the id of the URL. Pages with
// a text are not modified if the crawler has seen them.
func answerEmpty(w http.ResponseWriter, r *http.Request) {
	id := path.Base(r.URL.Path)
	w.Header().Set("X-Id", id)
	kind := path.Base(path.Dir(r.URL.Path))
	switch {
	case kind == "302":
		w.Header().Set("Location", "http://elsewhere.invalid/"+id)
		w.WriteHeader(http.StatusFound)
	case kind == "204":
		w.WriteHeader(http.StatusNoContent)
	case kind == "304", r.Header.Get("If-None-Match") != "":
		w.WriteHeader(http.StatusNotModified)
	case kind == "text":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("ETag", `"`+id+`"`)
		fmt.Fprintf(w, "<title>%s</title><p>The page with the number %s has a text that no other page has: %[1]s.", id, id)
	case kind == "200":
	default:
		http.NotFound(w, r)
	}
}

func exchanges(t *testing.T, n int, hosts []string, config string, more ...string) {
	dir := t.TempDir()
	var seeds strings.Builder
	kinds := []string{"302", "200", "204", "304"}
	for i := range n {
		fmt.Fprintf(&seeds, "%s/%s/%d\n", hosts[i%len(hosts)], kinds[i/len(hosts)%len(kinds)], i)
	}
	for i := range n / 7 {
		fmt.Fprintf(&seeds, "%s/text/%d\n", hosts[i%len(hosts)], n+i)
	}
	for name, text := range map[string]string{"seeds.txt": seeds.String(), "skink.toml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		cmd := exec.Command(buildSkink(t), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "SECRET=very-secret")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	crawl := append([]string{"crawl", "--quiet", "--config", "skink.toml", "--store", "data", "--warc", "archive", "--delay", "0", "--scope", "host", "--budget", "off", "--recrawl", "0s", "seeds.txt"}, more...)
	run(crawl...)
	run(crawl...)
	requests, responses := belong(t, filepath.Join(dir, "archive"))
	if want := 2 * (n + n/7); requests < want || responses < want {
		t.Errorf("the archive has %d requests and %d responses with an id, want %d of each", requests, responses, want)
	}
	holdsNone(t, dir, "very-secret")
	run("crawl", "--quiet", "--store", "again", "--from", "archive")
}

// belong checks that each request and response of an archive has the id that its URL has, and
// returns their numbers.
func belong(t *testing.T, archive string) (requests, responses int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(archive, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the archive has the files %q, %v", files, err)
	}
	wrong := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for r := warc.NewReader(f); ; {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			url := rec.Header.Get("WARC-Target-URI")
			id, kind := path.Base(url), rec.Header.Get("WARC-Type")
			if id == "robots.txt" || kind != "request" && kind != "response" && kind != "revisit" {
				continue
			}
			block, err := io.ReadAll(rec.Block)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"\r\nX-Id: " + id + "\r\n"}
			if kind == "request" {
				requests++
				want = []string{"/" + id + " HTTP/1.1\r\n", "\r\nHost: " + strings.Split(url, "/")[2] + "\r\n"}
			} else if responses++; strings.Contains(url, "/302/") {
				want = append(want, "\r\nLocation: http://elsewhere.invalid/"+id+"\r\n")
			}
			for _, w := range want {
				if !bytes.Contains(block, []byte(w)) || bytes.Count(block, []byte("HTTP/1.1")) != 1 || bytes.Contains(block, []byte("Proxy-Authorization")) {
					if wrong++; wrong < 4 {
						t.Errorf("the %s of %s is\n%s", kind, url, block)
					}
					break
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d records do not belong to their URL", wrong, requests+responses)
	}
	return requests, responses
}
