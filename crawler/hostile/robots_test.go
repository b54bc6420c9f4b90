package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"skink/crawler/robots"
	"skink/crawler/wire/wiretest"
)

// robotsFiles returns sites that try to do harm with their robots.txt. Their names begin with
// "robots-". All other sites have no robots.txt.
func robotsFiles() []hostile {
	// around returns a site with a robots.txt, a home page, and the pages /public and /private.
	around := func(robots http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/robots") {
				robots(w, r)
				return
			}
			writeHTML(w, prose(r.Host+r.URL.Path)+`<a href="/public">a</a><a href="/private">b</a>`)
		}
	}
	const rules = "User-agent: *\nDisallow: /private\n"
	const obeyed, ignored = "/ unique\n/public unique\n/private blocked", "/ unique\n/public unique\n/private unique"
	filler := strings.Repeat("Disallow: /filler-of-a-long-file/\n", 1<<14)
	return []hostile{
		{
			name: "robots-bomb", does: "a robots.txt that is 200 MB when unpacked, with rules in front", skink: "unpacks 500 KiB, and obeys them",
			answer: around(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(wiretest.Encode(new(testing.T), "gzip", []byte(rules)))
				_, _ = w.Write(bombs()["gzip"])
			}),
			want: obeyed,
		},
		{
			name: "robots-endless", does: "a robots.txt of rules without end", skink: "reads 500 KiB, and obeys them",
			answer: around(endlessly("HTTP/1.1 200 OK\r\n\r\n"+rules, filler[:34*1000], 0)),
			want:   obeyed,
		},
		{
			name: "robots-late", does: "a rule behind the first 500 KiB, and one across that border", skink: "does not know it, nor half of it",
			answer: around(func(w http.ResponseWriter, _ *http.Request) {
				head := "User-agent: *\n"
				io.WriteString(w, head+filler[:robots.MaxBytes-len(head)-len("Disallow: /p")]+"\nDisallow: /private\nDisallow: /\n")
			}),
			want: ignored,
		},
		{
			name: "robots-slow", does: "a robots.txt of a byte now and then", skink: "gives up after --timeout, and fetches no page without it", hangs: true,
			answer: around(endlessly("HTTP/1.1 200 OK\r\n\r\n", "#", 20*time.Millisecond)),
			want:   "/ error timeout",
		},
		{
			name: "robots-broken", does: "a robots.txt that ends in the middle", skink: "fetches no page without the rest",
			answer: around(rawly("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + rules)),
			want:   "/ error connection broken",
		},
		{
			name: "robots-error", does: "answers 500 for robots.txt", skink: "fetches no page",
			answer: around(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
			want:   "/ error robots.txt unreachable",
		},
		{
			name: "robots-loop", does: "a robots.txt that redirects without end", skink: "follows five, and takes it for missing",
			answer: around(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
			}),
			want: ignored,
			check: func(t *testing.T, c *crawl) {
				five, six := "/robots.txtxxxxx", "/robots.txtxxxxxx"
				if c.server.count("robots-loop.localhost"+five) != 1 || c.server.count("robots-loop.localhost"+six) != 0 {
					t.Error("other than five redirects were followed")
				}
			},
		},
		{
			name: "robots-elsewhere", does: "a robots.txt that redirects to a file of another host, with other rules there", skink: "obeys it, and the other host's own for the other host",
			answer: around(func(w http.ResponseWriter, r *http.Request) {
				_, port, _ := strings.Cut(r.Host, ":")
				switch r.URL.Path {
				case "/robots.txt":
					http.Redirect(w, r, "http://sub.robots-elsewhere.localhost:"+port+"/robots-of-all", http.StatusFound)
				default:
					io.WriteString(w, rules)
				}
			}),
			seeds: []string{"/", "/to-sub"},
			want:  obeyed + "\n/to-sub unique",
		},
		{
			name: "robots-html", does: "a web page as robots.txt, as on sites that answer everything with one", skink: "finds no rule in it",
			answer: around(func(w http.ResponseWriter, r *http.Request) { writeHTML(w, prose("not found")+"<p>Disallow: /") }),
			want:   ignored,
		},
		{
			name: "robots-agents", does: "a robots.txt of 30,000 groups", skink: "reads each rule once",
			answer: around(func(w http.ResponseWriter, r *http.Request) {
				for i := range 15_000 {
					fmt.Fprintf(w, "User-agent: *\nDisallow: /%x\n", i)
				}
				io.WriteString(w, rules)
			}),
			want: obeyed,
		},
	}
}
