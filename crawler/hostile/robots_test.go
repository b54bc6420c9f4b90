package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"skink/crawler/robots"
	"skink/internal/tools/wiretest"
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
			name: "robots-bomb", does: "sends a robots.txt of 200 MB, compressed, that begins with rules", skink: "decompresses 500 KiB, and obeys the rules",
			answer: around(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(wiretest.Encode(new(testing.T), "gzip", []byte(rules)))
				_, _ = w.Write(bombs()["gzip"])
			}),
			want: obeyed,
		},
		{
			name: "robots-endless", does: "sends a robots.txt with rules without end", skink: "reads 500 KiB, and obeys the rules",
			answer: around(endlessly("HTTP/1.1 200 OK\r\n\r\n"+rules, filler[:34*1000], 0)),
			want:   obeyed,
		},
		{
			name: "robots-late", does: "sends a robots.txt with a rule after the first 500 KiB, and a rule that crosses this limit", skink: "ignores both rules",
			answer: around(func(w http.ResponseWriter, _ *http.Request) {
				head := "User-agent: *\n"
				io.WriteString(w, head+filler[:robots.MaxBytes-len(head)-len("Disallow: /p")]+"\nDisallow: /private\nDisallow: /\n")
			}),
			want: ignored,
		},
		{
			name: "robots-slow", does: "sends a byte of robots.txt from time to time", skink: "cancels the request after --timeout, and fetches no page", hangs: true,
			answer: around(endlessly("HTTP/1.1 200 OK\r\n\r\n", "#", 20*time.Millisecond)),
			want:   "/ error timeout",
		},
		{
			name: "robots-broken", does: "sends a robots.txt that ends in the middle", skink: "fetches no page, because a part of robots.txt is missing",
			answer: around(rawly("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + rules)),
			want:   "/ error connection broken",
		},
		{
			name: "robots-error", does: "responds to requests for robots.txt with status 500", skink: "fetches no page",
			answer: around(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
			want:   "/ error robots.txt unreachable",
		},
		{
			name: "robots-loop", does: "redirects robots.txt without end", skink: "follows five redirects, and then treats robots.txt as missing",
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
			name: "robots-elsewhere", does: "redirects robots.txt to a file on another host, which has a robots.txt with other rules", skink: "obeys the rules of that file on the first host, and obeys the robots.txt of the other host there",
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
			name: "robots-html", does: "sends a web page as robots.txt, as sites do that respond to every URL with a page", skink: "finds no rules in the page",
			answer: around(func(w http.ResponseWriter, r *http.Request) { writeHTML(w, prose("not found")+"<p>Disallow: /") }),
			want:   ignored,
		},
		{
			name: "robots-agents", does: "sends a robots.txt with 30,000 groups", skink: "reads each rule once",
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
