package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"skink/extract"
	"skink/store"
)

// prose returns a text of eighty words, which is different for each name.
func prose(name string) string {
	h := fnv.New64()
	io.WriteString(h, name)
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	var b strings.Builder
	b.WriteString("<p>")
	for range 80 {
		b.WriteString("w" + strconv.Itoa(rng.IntN(1_000_000)) + " ")
	}
	return b.String()
}

func writeHTML(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, body)
}

// says returns a handler that answers each request with a page.
func says(body func(r *http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { writeHTML(w, body(r)) }
}

// monsterPages returns sites whose pages have far too much markup of some kind.
func monsterPages() []hostile {
	const links = 10_000
	var missing []string
	for i := range links {
		missing = append(missing, fmt.Sprintf("/%d error status 404", i))
	}
	return []hostile{
		{
			name: "links", does: "sends a page with 10,000 links, and none of their targets exists", skink: "requests each target once",
			answer: func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					http.NotFound(w, r)
					return
				}
				out := new(bytes.Buffer)
				out.WriteString(prose(r.Host))
				for i := range links {
					fmt.Fprintf(out, `<a href="/%d">`, i)
				}
				writeHTML(w, out.String())
			},
			want: "/ unique\n" + strings.Join(missing, "\n"), alloc: 512 << 20,
		},
		{
			name: "nested-512", does: "sends a page with 512 elements that are open at once", skink: "parses the page as a tree",
			answer: says(func(r *http.Request) string { return strings.Repeat("<div>", 509) + prose(r.Host) }),
			want:   "/ unique",
			check:  foundBy("nested-512", extract.RootDescent),
		},
		{
			name: "nested-100000", does: "sends a page with 100,000 elements that are open at once", skink: "builds no tree, and extracts the text between the tags",
			answer: says(func(r *http.Request) string { return strings.Repeat("<div>", 100_000) + prose(r.Host) }),
			want:   "/ unique",
			check:  foundBy("nested-100000", extract.RootStripped),
		},
		{
			name: "formatting", does: "sends a page of 46 KB in which each of 11,000 paragraphs opens 50 formatting elements again", skink: "builds no tree, because it would be much larger than the page; extracts the text between the tags, and records this",
			answer: says(func(r *http.Request) string { return prose(r.Host) + openFormatting(50, 11_000) }),
			want:   "/ unique", alloc: 512 << 20,
			check: boundBy("formatting", store.BoundTree),
		},
		{
			name: "formatting-1mb", does: "sends a page of 1 MB in which each paragraph opens 50 formatting elements again", skink: "builds no tree, because it would be much larger than the page; extracts the text between the tags, and records this",
			answer: says(func(r *http.Request) string { return prose(r.Host) + openFormatting(50, 250_000) }),
			want:   "/ unique", maxSize: 2 << 20, alloc: 512 << 20,
			check: boundBy("formatting-1mb", store.BoundTree),
		},
		{
			name: "paragraphs", does: "sends 7 MB of paragraphs with one letter each", skink: "does not build a tree of more than 128 MB, and records this",
			answer: says(func(r *http.Request) string { return prose(r.Host) + strings.Repeat("<p>a", 7<<20/4) }),
			want:   "/ unique", maxSize: 8 << 20, alloc: 2 << 30,
			check: boundBy("paragraphs", store.BoundTree),
		},
		{
			name: "base", does: "sends 100,000 relative links, and a `<base>` URL of 7.9 KB", skink: "follows links until their URLs have 8 MB in total, and records this",
			answer: says(func(r *http.Request) string {
				var b strings.Builder
				b.WriteString(`<base href="http://out.localhost/` + strings.Repeat("b", 7900) + `/">` + prose(r.Host))
				for i := range 100_000 {
					fmt.Fprintf(&b, "<a href=%d>", i)
				}
				return b.String()
			}),
			want: "/ unique", maxSize: 2 << 20, alloc: 512 << 20,
			check: boundBy("base", store.BoundLinks),
		},
		{
			name: "attributes", does: "sends an element with a million attributes", skink: "reads the page",
			answer: says(func(r *http.Request) string { return millionAttributes() + prose(r.Host) }),
			want:   "/ unique", maxSize: 8 << 20, alloc: 1 << 30,
		},
		{
			name: "long-titles", does: "sends a page whose title, description, language and type have 200 KB each", skink: "stores only the beginning of each",
			answer: func(w http.ResponseWriter, r *http.Request) {
				long := strings.Repeat("long ", 40_000)
				w.Header().Set("Content-Type", "text/html; x="+strings.ReplaceAll(long, " ", ""))
				io.WriteString(w, `<html lang="`+long+`"><title>`+long+`</title><meta name=description content="`+long+`">`+prose(r.Host))
			},
			want: "/ unique",
		},
	}
}

// openFormatting returns a page whose parser must open n formatting elements again in each block.
func openFormatting(n, blocks int) string {
	var b strings.Builder
	b.WriteString("<p>")
	for i := range n {
		fmt.Fprintf(&b, "<font size=%d>", i)
	}
	return b.String() + strings.Repeat("<p>x", blocks)
}

var millionAttributes = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("<p")
	for i := range 1_000_000 {
		b.WriteString(" " + strconv.FormatInt(int64(i), 36))
	}
	return b.String() + ">"
})

// foundBy returns a check that the text of the first page was found in the element called root.
func foundBy(name, root string) func(*testing.T, *crawl) {
	return func(t *testing.T, c *crawl) {
		if got := c.record(t, c.server.url(name, "/")).Root; got != root {
			t.Errorf("the text was found by %q, want %q", got, root)
		}
	}
}

// boundBy returns a check that the record of the first page has the exceeded limit called bound, or
// none if bound is "".
func boundBy(name, bound string) func(*testing.T, *crawl) {
	return func(t *testing.T, c *crawl) {
		if got := c.record(t, c.server.url(name, "/")).Bounds; got != bound {
			t.Errorf("the page had too much of %q, want %q", got, bound)
		}
	}
}

// misnamedPages returns sites whose responses are of another type or encoding than they declare.
func misnamedPages() []hostile {
	russian := "\xcf\xf0\xe8\xe2\xe5\xf2" // "Привет" in windows-1251
	return []hostile{
		{
			name: "wrong-charset", does: "sends Russian text that is declared as windows-1251 in its meta element and as UTF-8 in its header", skink: "detects the encoding from the bytes",
			answer: says(func(r *http.Request) string {
				return "<html lang=ru><meta charset=windows-1251><title>" + russian + "</title><p>" + strings.Repeat(russian+" ", 100)
			}),
			want: "/ unique",
			check: func(t *testing.T, c *crawl) {
				if got := c.record(t, c.server.url("wrong-charset", "/")).Title; got != "Привет" {
					t.Errorf("the title is %q", got)
				}
			},
		},
		{
			name: "utf-16", does: "sends UTF-16, declared by a byte order mark or by a header", skink: "reads the page",
			seeds: []string{"/bom", "/header"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				text := "<title>größer</title>" + prose(r.Host+r.URL.Path)
				w.Header().Set("Content-Type", "text/html")
				if r.URL.Path == "/bom" {
					text = "\ufeff" + text
				} else {
					w.Header().Set("Content-Type", "text/html; charset=utf-16le")
				}
				for _, u := range utf16.Encode([]rune(text)) {
					_, _ = w.Write([]byte{byte(u), byte(u >> 8)})
				}
			},
			want: "/bom unique\n/header unique",
			check: func(t *testing.T, c *crawl) {
				for _, p := range []string{"/bom", "/header"} {
					if got := c.record(t, c.server.url("utf-16", p)).Title; got != "größer" {
						t.Errorf("%s: the title is %q", p, got)
					}
				}
			},
		},
		{
			name: "no-type", does: "sends no Content-Type, or an invalid one", skink: "detects the type from the bytes",
			seeds: []string{"/html", "/text", "/picture", "/nonsense"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				switch r.URL.Path {
				case "/html":
					io.WriteString(w, "<!DOCTYPE html><html>"+prose(r.URL.Path))
				case "/text":
					io.WriteString(w, strings.TrimPrefix(prose(r.URL.Path), "<p>"))
				case "/picture":
					io.WriteString(w, "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00\x01", 100))
				default:
					w.Header()["Content-Type"] = []string{";;; \xff"}
					io.WriteString(w, "<!DOCTYPE html><html>"+prose(r.URL.Path))
				}
			},
			want: "/html unique\n/text unique\n/picture other\n/nonsense unique",
		},
		{
			name: "binary-as-html", does: "sends a picture, a program and random bytes as text/html", skink: "records that they are not text",
			seeds: []string{"/picture", "/program", "/noise"},
			answer: says(func(r *http.Request) string {
				noise := make([]byte, 10_000)
				rng := rand.New(rand.NewPCG(1, 1))
				for i := range noise {
					noise[i] = byte(rng.Uint32())
				}
				switch r.URL.Path {
				case "/picture":
					return "\x89PNG\r\n\x1a\n" + string(noise)
				case "/program":
					return "\x7fELF\x02\x01\x01\x00" + string(noise)
				}
				return string(noise)
			}),
			want: "/picture other\n/program other\n/noise other",
		},
		{
			name: "html-as-text", does: "sends a web page as text/plain", skink: "reads the page as HTML, and follows its links",
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				io.WriteString(w, "<!DOCTYPE html><html><title>T</title><a href=/next>n</a>"+prose(r.Host+r.URL.Path))
			},
			want: "/ unique\n/next unique",
		},
	}
}

// traps returns sites with endlessly many URLs, and sites that only look as if they had them.
func traps() []hostile {
	return []hostile{
		{
			name: "soft-404", does: "answers every URL with status 200 and the same page, which links to deeper and deeper URLs", skink: "finds one page and its duplicates, and stops at URLs with 512 slashes",
			answer: says(func(r *http.Request) string {
				return prose(r.Host) + `<a href="deeper/">deeper</a> <a href="/missing/1">1</a> <a href="/missing/2">2</a>`
			}),
			check: func(t *testing.T, c *crawl) {
				var unique, exact int
				for _, r := range c.records {
					switch r.Verdict {
					case "unique":
						unique++
					case "exact":
						exact++
					}
				}
				if unique != 1 || exact < 100 || exact > 2000 || len(c.records) != unique+exact {
					t.Errorf("%d unique and %d exact of %d records, want one and its copies", unique, exact, len(c.records))
				}
			},
			alloc: 1 << 30,
		},
		{
			name: "changing", does: "sends another page at each request, with links to itself in many forms", skink: "requests the URL once, and stores that page",
			answer: says(func(r *http.Request) string {
				return prose(strconv.Itoa(rand.Int())) + `<a href="/">a</a><a href="#b">b</a><a href="/./">c</a><a href="/x/..">d</a><a href="">e</a>`
			}),
			want:  "/ unique",
			check: askedOnce("changing", "/"),
		},
		{
			name: "cookie-walls", does: "sets a cookie and redirects to the same page, or to another page that does so", skink: "keeps no cookie, and records that the page redirects to itself",
			seeds: []string{"/", "/article"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Cookie") != "" {
					writeHTML(w, prose("behind the wall"))
					return
				}
				w.Header().Set("Set-Cookie", "seen=1")
				switch r.URL.Path {
				case "/article":
					http.Redirect(w, r, "/wall?to=/article", http.StatusFound)
				case "/wall":
					http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
				default:
					http.Redirect(w, r, r.URL.Path, http.StatusFound)
				}
			},
			want: "/ error too many redirects\n/article redirect /wall?to=/article\n/wall?to=/article redirect /article",
		},
	}
}

func askedOnce(name string, paths ...string) func(*testing.T, *crawl) {
	return func(t *testing.T, c *crawl) {
		for _, p := range paths {
			if n := c.server.count(name + ".localhost" + p); n != 1 {
				t.Errorf("%s was asked for %d times", p, n)
			}
		}
	}
}

// addresses returns sites with URLs that try to confuse the crawler, or to inject data into
// requests.
func addresses() []hostile {
	return []hostile{
		{
			name: "injection", does: "sends line breaks in Location, as bytes and as escapes", skink: "never sends these line breaks in a request",
			seeds: []string{"/escaped", "/bare"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/escaped":
					w.Header().Set("Location", "/next%0d%0aX-Injected:%20yes%0d%0a%0d%0aGET%20/secret%20HTTP/1.1")
					w.WriteHeader(http.StatusFound)
				case "/bare":
					raw(w, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /tab\tand\x0bmore\r\nX-Injected: only a header\r\n\r\n")
				default:
					writeHTML(w, prose(r.Host+r.URL.Path)+"<a href=\"/line&#13;&#10;X-Injected:&#32;yes\">x</a>")
				}
			},
			want: `/escaped redirect /next%0D%0AX-Injected:%20yes%0D%0A%0D%0AGET%20/secret%20HTTP/1.1
				/next%0D%0AX-Injected:%20yes%0D%0A%0D%0AGET%20/secret%20HTTP/1.1 unique
				/bare error not http
				/lineX-Injected:%20yes unique`,
			check: func(t *testing.T, c *crawl) {
				c.server.mu.Lock()
				defer c.server.mu.Unlock()
				for _, h := range c.server.heads {
					if h.Get("X-Injected") != "" {
						t.Errorf("sent %v", h)
					}
				}
				if c.server.asked["injection.localhost/secret"] > 0 {
					t.Error("a request came out of a header")
				}
			},
		},
		{
			name: "credentials", does: "has user names and passwords in links, in Location, in base and canonical URLs, and in a URL that is refused", skink: "neither sends nor stores the user names and passwords",
			seeds: []string{"/", "/moved", "/ftp", "/broken"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/moved":
					w.Header().Set("Location", "http://user:hunter2@"+r.Host+"/target")
					w.WriteHeader(http.StatusFound)
				case "/ftp":
					w.Header().Set("Location", "ftp://user:hunter2@"+r.Host+"/target")
					w.WriteHeader(http.StatusFound)
				case "/broken":
					w.Header().Set("Location", "http://user:hunter2@[/target")
					w.WriteHeader(http.StatusFound)
				case "/":
					writeHTML(w, fmt.Sprintf(`<base href="http://user:hunter2@%[1]s/base/"><link rel=canonical href="http://user:hunter2@%[1]s/canonical">`+
						`<a href="rel">a</a><a href="//me:hunter2@%[1]s/link">b</a>`, r.Host)+prose(r.Host))
				default:
					writeHTML(w, prose(r.Host+r.URL.Path))
				}
			},
			want: "/ unique\n/base/rel unique\n/link unique\n/moved redirect /target\n/target unique\n/ftp error bad redirect\n/broken error bad redirect",
			check: func(t *testing.T, c *crawl) {
				for _, r := range c.records {
					if b, _ := json.Marshal(r); strings.Contains(string(b), "hunter2") {
						t.Errorf("stored %s", b)
					}
				}
				c.server.mu.Lock()
				defer c.server.mu.Unlock()
				for _, h := range c.server.heads {
					if h.Get("Authorization") != "" {
						t.Errorf("sent %v", h)
					}
				}
			},
		},
		{
			name: "bytes", does: "sends bytes that are not UTF-8 in links and in Location", skink: "reads the bytes in a page in the encoding of the page, and replaces the bytes in Location",
			seeds: []string{"/", "/moved"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					writeHTML(w, "<a href=\"/caf\xe9\">x</a>"+prose(r.Host))
				case "/moved":
					raw(w, "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: /na\xefve?\xff\r\n\r\n")
				default:
					writeHTML(w, prose(r.Host+r.URL.Path))
				}
			},
			want: "/ unique\n/caf%C3%A9 unique\n/moved redirect /na%EFve?%FF\n/na%EFve?%FF unique",
		},
		{
			name: "idn", does: "uses host names in other scripts, in links and in Location", skink: "normalises each host name to its ASCII form",
			seeds: []string{"/", "/moved"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				_, port, _ := strings.Cut(r.Host, ":")
				switch {
				case r.URL.Path == "/moved":
					w.Header().Set("Location", "http://BÜCHER.idn.localhost:"+port+"/moved-to")
					w.WriteHeader(http.StatusFound)
				case r.URL.Path == "/":
					writeHTML(w, fmt.Sprintf(`<a href="http://bücher.idn.localhost:%[1]s/linked">x</a><a href="http://b%%C3%%BCcher.idn。localhost:%[1]s/linked">x</a>`, port)+prose(r.Host))
				default:
					writeHTML(w, prose(r.Host+r.URL.Path))
				}
			},
			want: "/ unique\n/moved redirect http://xn--bcher-kva.idn.localhost/moved-to\nhttp://xn--bcher-kva.idn.localhost/moved-to unique\nhttp://xn--bcher-kva.idn.localhost/linked unique",
		},
		{
			name: "ports", does: "links to invalid ports, to closed ports, and to ports of other services", skink: "treats each port as a host of its own, and connects to no port that is not allowed",
			answer: says(func(r *http.Request) string {
				return `<a href="http://ports.localhost:65536/a">a</a><a href="http://ports.localhost:x/b">b</a><a href="http://ports.localhost:0/c">c</a>` +
					`<a href="http://ports.localhost:22/d">d</a><a href="http://ports.localhost:/e">e</a>` + prose(r.Host)
			}),
			want: "/ unique\nhttp://ports.localhost:0/c error private address\nhttp://ports.localhost:22/d error private address\nhttp://ports.localhost/e error private address",
		},
	}
}
