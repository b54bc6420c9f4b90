package hostile

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/crawler"
	"skink/internal/tools/wiretest"
)

// raw writes bytes instead of an answer of net/http, and closes the connection. So a complete
// answer must contain "Connection: close". Otherwise, the crawl may keep the connection and send
// the next request just before the server closes it. That request would fail, and these crawls do
// not retry.
func raw(w http.ResponseWriter, bytes string) {
	hijack(w, func(conn net.Conn) { _, _ = io.WriteString(conn, bytes) })
}

// hijack calls answer with the connection of a request, and closes the connection afterwards.
func hijack(w http.ResponseWriter, answer func(net.Conn)) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(3 * slowdown * hostileTimeout))
	answer(conn)
}

// rawly returns a site that answers every request with the same bytes.
func rawly(bytes string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { raw(w, bytes) }
}

// endlessly returns a site that writes first once, and then repeats rest until writing fails. It
// pauses after each write.
func endlessly(first, rest string, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		hijack(w, func(conn net.Conn) {
			_, err := io.WriteString(conn, first)
			for err == nil {
				time.Sleep(pause)
				_, err = io.WriteString(conn, rest)
			}
		})
	}
}

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// slowAnswers returns sites that answer slowly or never.
func slowAnswers() []hostile {
	return []hostile{
		{
			name: "never", does: "accepts the request and never responds", skink: "cancels the request after --timeout", hangs: true,
			answer: func(w http.ResponseWriter, _ *http.Request) {
				hijack(w, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
			},
			want: "/ error timeout",
		},
		{
			name: "slow-headers", does: "sends a header from time to time, without end", skink: "cancels the request after --timeout, which limits the whole response", hangs: true,
			answer: endlessly("HTTP/1.1 200 OK\r\n", "X-Slow: 1\r\n", 20*time.Millisecond),
			want:   "/ error timeout",
		},
		{
			name: "slow-body", does: "sends a byte of the body from time to time, without end", skink: "cancels the request after --timeout, and does not compare the incomplete page", hangs: true,
			answer: endlessly(okHead+"\r\n"+prose("slow"), "x", 20*time.Millisecond),
			want:   "/ error timeout, truncated",
		},
	}
}

// longAnswers returns sites whose answers never end or are very long.
func longAnswers() []hostile {
	kilobyte := strings.Repeat("x", 1023) + "\n"
	return []hostile{
		{
			name: "endless-body", does: "sends a body without end", skink: "reads --max-size bytes, and does not compare the page",
			answer: endlessly(okHead+"\r\n"+prose("endless"), kilobyte, 0),
			want:   "/ error too large, truncated",
		},
		{
			name: "endless-chunks", does: "sends chunks without end, each with one byte of data and a kilobyte of extensions", skink: "stops reading when the extensions are larger than the data",
			answer: endlessly(okHead+"Transfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("x", 1000)+"\r\nx\r\n", 0),
			want:   "/ error not http, truncated",
		},
		{
			name: "endless-headers", does: "sends headers without end", skink: "reads 256 KB of headers, and cancels the request",
			answer: endlessly("HTTP/1.1 200 OK\r\n", "X: "+kilobyte[:1000]+"\r\n", 0),
			want:   "/ error not http",
		},
		{
			name: "endless-header", does: "sends one header without end", skink: "reads 256 KB of the header, and cancels the request",
			answer: endlessly("HTTP/1.1 200 OK\r\nX: ", kilobyte[:1000], 0),
			want:   "/ error not http",
		},
		{
			name: "endless-hints", does: "sends early hints (status 103) without end, and no response", skink: "reads a few early hints, and cancels the request",
			answer: endlessly("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0),
			want:   "/ error not http",
		},
		{
			name: "large", does: "sends a page of 100 MB with the correct Content-Length", skink: "reads at most --max-size bytes, and does not compare the page",
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Length", fmt.Sprint(100<<20))
				for range 100 << 10 {
					if _, err := io.WriteString(w, kilobyte); err != nil {
						return
					}
				}
			},
			want: "/ error too large, truncated",
		},
	}
}

// bombs returns bodies of 200 MB of zeros, by the content codings with which they are compressed.
// They are made only once, because this takes a second.
var bombs = sync.OnceValue(func() map[string][]byte {
	t := new(testing.T)
	mega := make([]byte, 1<<20)
	gzip := bytes.Repeat(wiretest.Encode(t, "gzip", mega), 200)
	zstd := bytes.Repeat(wiretest.Encode(t, "zstd", mega), 200)
	long := bytes.Repeat(mega, 64)
	return map[string][]byte{
		"gzip":                   gzip,
		"zstd":                   zstd,
		"deflate":                wiretest.Encode(t, "deflate", long),
		"br":                     wiretest.Encode(t, "br", long),
		"gzip, gzip":             wiretest.Encode(t, "gzip", gzip),
		"zstd, br, gzip":         wiretest.Encode(t, "br, gzip", zstd),
		"gzip, gzip, br":         wiretest.Encode(t, "gzip, br", gzip),
		"gzip, gzip, gzip, gzip": wiretest.Encode(t, "gzip, gzip, gzip", gzip),
	}
})

// encodedAnswers returns sites whose compressed answers are larger than they look, or have another
// coding than they declare.
func encodedAnswers() []hostile {
	coding := map[string]string{"/gzip": "gzip", "/deflate": "deflate", "/br": "br", "/zstd": "zstd"}
	nested := map[string]string{"/two": "gzip, gzip", "/three": "zstd, br, gzip", "/mixed": "gzip, gzip, br", "/four": "gzip, gzip, gzip, gzip"}
	bomb := func(codings map[string]string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			says := codings[r.URL.Path]
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", says)
			_, _ = w.Write(bombs()[says])
		}
	}
	return []hostile{
		{
			name: "bombs", does: "sends 64 to 200 MB of zeros, compressed to a few KB with gzip, deflate, brotli or zstd", skink: "decompresses --max-size bytes, and does not compare the page",
			seeds: []string{"/gzip", "/deflate", "/br", "/zstd"}, answer: bomb(coding), alloc: 128 << 20,
			want: "/gzip error too large, truncated\n/deflate error too large, truncated\n/br error too large, truncated\n/zstd error too large, truncated",
		},
		{
			name: "nested-bombs", does: "sends 64 to 200 MB of zeros, compressed two, three or four times", skink: "decompresses --max-size bytes of each layer, and at most three layers",
			seeds: []string{"/two", "/three", "/mixed", "/four"}, answer: bomb(nested),
			want: "/two error too large, truncated\n/three error too large, truncated\n/mixed error too large, truncated\n/four error content encoding, truncated",
		},
		{
			name: "bomb-files", does: "sends 200 MB of zeros as a compressed file: as sitemap.xml.gz, as application/gzip and as text/xml, without a Content-Encoding", skink: "does not decompress the files",
			seeds: []string{"/sitemap.xml.gz", "/sitemap.xml.gz?as=xml"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/gzip")
				if r.URL.RawQuery != "" {
					w.Header().Set("Content-Type", "text/xml")
				}
				_, _ = w.Write(bombs()["gzip"])
			},
			want: "/sitemap.xml.gz other\n/sitemap.xml.gz?as=xml other",
		},
		{
			name: "wrong-coding", does: "sends a Content-Encoding that is wrong, unknown or invalid, or a compressed body without a Content-Encoding", skink: "reads uncompressed text as text, and does not compare bodies that it cannot decompress",
			seeds: []string{"/gzip-is-plain", "/br-is-plain", "/gzip-is-cut", "/gzip-sum", "/unknown", "/charset", "/unsaid"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				page := []byte("<html>" + prose(r.URL.Path))
				switch r.URL.Path {
				case "/gzip-is-plain":
					w.Header().Set("Content-Encoding", "gzip")
				case "/br-is-plain":
					w.Header().Set("Content-Encoding", "br")
				case "/gzip-is-cut":
					w.Header().Set("Content-Encoding", "gzip")
					page = wiretest.Encode(new(testing.T), "gzip", page)
					page = page[:len(page)/2]
				case "/gzip-sum":
					w.Header().Set("Content-Encoding", "gzip")
					page = wiretest.Encode(new(testing.T), "gzip", page)
					page[len(page)-6] ^= 0xff
				case "/unknown":
					w.Header().Set("Content-Encoding", "compress")
				case "/charset":
					w.Header().Set("Content-Encoding", "utf-8")
				case "/unsaid":
					page = wiretest.Encode(new(testing.T), "gzip", page)
				}
				_, _ = w.Write(page)
			},
			want: "/gzip-is-plain unique\n/br-is-plain error content encoding, truncated\n/gzip-is-cut error connection broken, truncated\n/gzip-sum unique\n/unknown error content encoding, truncated\n/charset unique\n/unsaid other",
		},
	}
}

// brokenAnswers returns sites whose answers are incomplete or invalid.
func brokenAnswers() []hostile {
	page := "<html>" + prose("broken")
	return []hostile{
		{
			name: "wrong-length", does: "sends a Content-Length that is too large, too small or negative, or sends it twice", skink: "does not compare incomplete pages, and reads no more than Content-Length bytes",
			seeds: []string{"/too-large", "/too-small", "/twice", "/negative"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/too-large":
					raw(w, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", okHead, len(page)+100, page))
				case "/too-small":
					raw(w, fmt.Sprintf("%sConnection: close\r\nContent-Length: %d\r\n\r\n%s%s", okHead, len(page), page, "HTTP/1.1 200 OK\r\n\r\n and more"))
				case "/twice":
					raw(w, okHead+"Content-Length: 10\r\nContent-Length: 20\r\n\r\n"+page)
				default:
					raw(w, okHead+"Content-Length: -1\r\n\r\n"+page)
				}
			},
			want: "/too-large error connection broken, truncated\n/too-small unique\n/twice error not http\n/negative error not http",
		},
		{
			name: "chunks", does: "sends chunks that end in the middle, chunks without the last one, and invalid chunks", skink: "does not compare the pages",
			seeds: []string{"/half", "/no-end", "/nonsense"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				chunk := fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", okHead, len(page), page)
				switch r.URL.Path {
				case "/half":
					raw(w, chunk[:len(chunk)-100])
				case "/no-end":
					raw(w, chunk+"\r\n")
				default:
					raw(w, chunk+"\r\nzz\r\n")
				}
			},
			want: "/half error connection broken, truncated\n/no-end error connection broken, truncated\n/nonsense error not http, truncated",
		},
		{
			name: "reset", does: "resets the connection in the middle of the page", skink: "does not compare the incomplete page",
			answer: func(w http.ResponseWriter, _ *http.Request) {
				hijack(w, func(conn net.Conn) {
					fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", okHead, len(page)+100, page)
					time.Sleep(50 * time.Millisecond) // otherwise, the reset may arrive before the answer
					_ = conn.(countedConn).Conn.(*net.TCPConn).SetLinger(0)
				})
			},
			want: "/ error connection broken, truncated",
		},
		{
			name: "no-http", does: "responds in another protocol, or with an incomplete header", skink: "records that the response is not HTTP",
			seeds: []string{"/mail", "/nothing", "/half"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/mail":
					raw(w, "220 mail.example ESMTP\r\n")
				case "/nothing":
					raw(w, "")
				default:
					raw(w, okHead)
				}
			},
			want: "/mail error not http\n/nothing error connection broken\n/half error connection broken",
		},
	}
}

// redirects returns sites whose redirects are endless, or lead to bad targets.
func redirects() []hostile {
	to := func(targets map[string]string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, port, _ := strings.Cut(r.Host, ":")
			w.Header().Set("Location", strings.ReplaceAll(targets[r.URL.Path], "PORT", port))
			w.WriteHeader(http.StatusFound)
		}
	}
	schemes := map[string]string{
		"/ftp": "ftp://example.com/", "/file": "file:///etc/passwd", "/script": "javascript:alert(1)", "/data": "data:text/html,hello",
		"/gopher": "gopher://127.0.0.1:6379/_x", "/mail": "mailto:a@example.com", "/none": "",
	}
	var schemeSeeds, schemeWant, chainWant []string
	for path := range schemes {
		schemeSeeds = append(schemeSeeds, path)
		schemeWant = append(schemeWant, path+" error bad redirect")
	}
	for i := range crawler.MaxHops {
		chainWant = append(chainWant, fmt.Sprintf("/%d redirect /%d", i, i+1))
	}
	chainWant = append(chainWant, fmt.Sprintf("/%d error too many redirects", crawler.MaxHops))
	return []hostile{
		{
			name: "redirect-loop", does: "redirects in circles of one, two and three URLs", skink: "requests each URL once",
			seeds:  []string{"/one", "/two-a", "/three-a"},
			answer: to(map[string]string{"/one": "/one", "/two-a": "/two-b", "/two-b": "/two-a", "/three-a": "/three-b", "/three-b": "/three-c", "/three-c": "/three-a"}),
			want:   "/one error too many redirects\n/two-a redirect /two-b\n/two-b redirect /two-a\n/three-a redirect /three-b\n/three-b redirect /three-c\n/three-c redirect /three-a",
			check:  askedOnce("redirect-loop", "/one", "/two-a", "/two-b", "/three-a", "/three-c"),
		},
		{
			name: "redirect-chain", does: "redirects each URL to another URL, without end", skink: "follows ten redirects",
			seeds: []string{"/0"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				var i int
				fmt.Sscanf(r.URL.Path, "/%d", &i)
				w.Header().Set("Location", fmt.Sprintf("/%d", i+1))
				w.WriteHeader(http.StatusFound)
			},
			want: strings.Join(chainWant, "\n"),
		},
		{
			name: "redirect-schemes", does: "redirects to ftp, file, javascript, data, gopher and mailto URLs, and to no URL", skink: "follows redirects to http and https, and records the others",
			seeds: schemeSeeds, answer: to(schemes), want: strings.Join(schemeWant, "\n"),
		},
		{
			name: "redirect-out", does: "redirects out of the crawl's scope, with the first redirect and with the second", skink: "records the target, and does not fetch it",
			seeds:  []string{"/", "/step"},
			answer: to(map[string]string{"/": "http://out.localhost:PORT/", "/step": "/step-2", "/step-2": "http://out.localhost:PORT/step"}),
			want:   "/ redirect http://out.localhost/\n/step redirect /step-2\n/step-2 redirect http://out.localhost/step",
			check: func(t *testing.T, c *crawl) {
				if n := c.server.count("out.localhost/") + c.server.count("out.localhost/robots.txt"); n > 0 {
					t.Errorf("%d requests went out of scope", n)
				}
			},
		},
	}
}
