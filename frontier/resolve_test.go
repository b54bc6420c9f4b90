package frontier

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	const page = "https://example.com/a/b/c.html?q=1"
	tests := []struct {
		name  string // property that the row shows, with its section of the URL Standard (U) or RFC 3986 (R)
		href  string
		want  string
		plain bool // the link is resolved without the full parser
	}{
		{"empty is the page, U 4.4 relative state", "", page, true},
		{"a fragment too", "#top", page, true},
		{"whatever is in it", "#a b%zz\\é", page, true},
		{"blanks around", " \n d.html ", "https://example.com/a/b/d.html", true},
		{"a query alone keeps the path", "?r=2", "https://example.com/a/b/c.html?r=2", true},
		{"an empty query", "?", "https://example.com/a/b/c.html?", true},

		// These are the other normal examples of RFC 3986, section 5.4.1.
		{"R 5.4.1 g", "g", "https://example.com/a/b/g", true},
		{"R 5.4.1 ./g", "./g", "https://example.com/a/b/g", true},
		{"R 5.4.1 g/", "g/", "https://example.com/a/b/g/", true},
		{"R 5.4.1 /g", "/g", "https://example.com/g", true},
		{"R 5.4.1 //g", "//g", "https://g/", true},
		{"R 5.4.1 g?y", "g?y", "https://example.com/a/b/g?y", true},
		{"R 5.4.1 g#s", "g#s", "https://example.com/a/b/g", true},
		{"R 5.4.1 g?y#s", "g?y#s", "https://example.com/a/b/g?y", true},
		{"R 5.4.1 ;x", ";x", "https://example.com/a/b/;x", true},
		{"R 5.4.1 .", ".", "https://example.com/a/b/", false},
		{"R 5.4.1 ./", "./", "https://example.com/a/b/", true},
		{"R 5.4.1 ..", "..", "https://example.com/a/", false},
		{"R 5.4.1 ../", "../", "https://example.com/a/", true},
		{"R 5.4.1 ../g", "../g", "https://example.com/a/g", true},
		{"R 5.4.1 ../..", "../..", "https://example.com/", false},
		{"R 5.4.1 ../../g", "../../g", "https://example.com/g", true},
		// These are the abnormal examples of RFC 3986, section 5.4.2.
		{"R 5.4.2 ../../../g", "../../../g", "https://example.com/g", true},
		{"R 5.4.2 /./g", "/./g", "https://example.com/g", false},
		{"R 5.4.2 /../g", "/../g", "https://example.com/g", false},
		{"R 5.4.2 g.", "g.", "https://example.com/a/b/g.", true},
		{"R 5.4.2 .g", ".g", "https://example.com/a/b/.g", true},
		{"R 5.4.2 ..g", "..g", "https://example.com/a/b/..g", false},
		{"R 5.4.2 ./../g", "./../g", "https://example.com/a/g", true},
		{"R 5.4.2 g/./h", "g/./h", "https://example.com/a/b/g/h", false},
		{"R 5.4.2 g/../h", "g/../h", "https://example.com/a/b/h", false},
		{"R 5.4.2 g?y/../x", "g?y/../x", "https://example.com/a/b/g?y/../x", true},
		{"R 5.4.2 http:g is another host here, and a path where schemes agree", "https:g", "https://example.com/a/b/g", true},
		{"U 4.4 special authority ignore slashes", "http:g", "http://g/", false},

		{"an empty segment is climbed over", ".././/x", "https://example.com/a//x", true},
		{"a colon after a slash makes no scheme", "./a:b", "https://example.com/a/b/a:b", true},
		{"nor one behind the root", "/wiki/Talk:Skink", "https://example.com/wiki/Talk:Skink", true},
		{"nor one after a digit, U 4.4 scheme start state", "1:b", "https://example.com/a/b/1:b", true},
		{"capital escapes", "/%D0%AF?%3D", "https://example.com/%D0%AF?%3D", true},
		{"small ones", "/%d0%af", "https://example.com/%D0%AF", false},
		{"escapes of unreserved characters", "/%7Euser", "https://example.com/~user", false},
		{"lone per cent sign", "/100%", "https://example.com/100%", false},
		{"letters beyond ASCII", "/é", "https://example.com/%C3%A9", false},
		{"a space inside", "a b", "https://example.com/a/b/a%20b", false},
		{"before a fragment it is inside", "a #b", "https://example.com/a/b/a%20", false},
		{"a quote of a query, U 1.3 special-query", "?'", "https://example.com/a/b/c.html?%27", false},
		{"a quote of a path", "/'", "https://example.com/'", true},
		{"line end inside", "d.\nhtml", "https://example.com/a/b/d.html", false},
		{"backslash", `\x\..\y`, "https://example.com/y", false},

		{"absolute, own host", "https://example.com/x?y", "https://example.com/x?y", true},
		{"absolute, other scheme", "http://example.com/x", "http://example.com/x", true},
		{"absolute, other host", "https://www.example.org/x#y", "https://www.example.org/x", true},
		{"absolute without a path", "https://example.org", "https://example.org/", true},
		{"absolute without a path, with a query", "https://example.com?x", "https://example.com/?x", true},
		{"own host as the beginning of another", "https://example.com.evil.example/x", "https://example.com.evil.example/x", true},
		{"or of user info", "https://example.com@evil.example/x", "https://evil.example/x", false},
		{"port", "https://example.com:8080/x", "https://example.com:8080/x", true},
		{"default port", "https://example.com:443/x", "https://example.com/x", false},
		{"default port of the other scheme", "https://example.com:80/x", "https://example.com:80/x", false},
		{"port with a leading zero", "https://example.com:08080/x", "https://example.com:8080/x", false},
		{"empty port", "https://example.com:/x", "https://example.com/x", false},
		{"port that is too large", "https://example.com:65536/x", "", false},
		{"a user and a password are no host and port", "https://example.org:1@example.com/x", "https://example.com/x", false},
		{"capitals", "HTTPS://Example.com/x", "https://example.com/x", false},
		{"address", "http://127.0.0.1/", "http://127.0.0.1/", true},
		{"address with a port", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/", true},
		{"address in octal", "http://127.0.0.01/", "http://127.0.0.1/", false},
		{"short address", "http://127.1/", "http://127.0.0.1/", false},
		{"address with a number too large", "http://127.0.0.256/", "", false},
		{"what may be an address", "http://a.0x1/", "", false},
		{"any host of its page's scheme", "//example.org/x", "https://example.org/x", true},

		{"mail is no page", "mailto:a@example.com", "", false},
		{"nor is a script", "javascript:void(0)", "", false},
		{"nor is a host with a port", "example.org:80/", "", false},
	}
	base, err := NewBase(page, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := base.Resolve(tt.href); got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("Resolve(%q) = %q, %v, want %q", tt.href, got, err, tt.want)
			}
			if _, plain := base.resolvePlain(tt.href); plain != tt.plain {
				t.Errorf("Resolve(%q): plain is %v, want %v", tt.href, plain, tt.plain)
			}
			checkResolve(t, base, tt.href)
		})
	}
}

// A link that repeats the host of its page is resolved without the parser, even if the host needs
// the full parser.
func TestResolveOwnHost(t *testing.T) {
	for _, origin := range []string{"http://127.0.0.1:8080", "http://[::1]:8080", "https://xn--bcher-kva.example", "https://xn--pokxncvks", "http://a.xn--:8080"} {
		base, err := NewBase(origin+"/a/", "", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, href := range []string{origin + "/x?y#z", "/x?y", "../x?y"} {
			if got, ok := base.resolvePlain(href); got != origin+"/x?y" || !ok {
				t.Errorf("plain %q on %s = %q, %v", href, origin, got, ok)
			}
		}
	}
}

func TestResolveErrors(t *testing.T) {
	base, err := NewBase("https://example.com/"+strings.Repeat("a", MaxURL/2)+"/", "", "")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, href string
		want       error
	}{
		{"scheme", "tel:+1", ErrScheme},
		{"scheme behind blanks", " java\nscript:x", ErrScheme},
		{"no host", "https://", ErrInvalid},
		{"bad port", "//example.com:x/", ErrInvalid},
		{"too long as written", strings.Repeat("b", MaxURL+1), ErrTooLong},
		{"too long with its page", strings.Repeat("b", MaxURL/2), ErrTooLong},
		{"too deep", strings.Repeat("b/", maxSlashes), ErrTooLong},
		{"too deep, if only to climb", strings.Repeat("../", maxSlashes+1), ErrTooLong},
		{"too long in escapes", strings.Repeat("é", MaxURL/10), ErrTooLong},
		{"host too long", "//" + strings.Repeat("@", maxAuthority) + "a", ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := base.Resolve(tt.href); !errors.Is(err, tt.want) {
				t.Errorf("Resolve = %q, %v, want %v", got, err, tt.want)
			}
		})
	}
}

// The expected URLs are those that browsers request.
func TestQueryEncoding(t *testing.T) {
	const page = "http://example.com/a/"
	for _, tt := range []struct{ charset, href, want string }{
		{"gbk", "3.asp?DengJh=洪1700718", "http://example.com/a/3.asp?DengJh=%BA%E91700718"},
		{"shift_jis", "/s.cgi?q=水車&r=ア", "http://example.com/s.cgi?q=%90%85%8E%D4&r=%83A"}, // the second byte of ア is an ASCII letter
		{"windows-1251", "?name=мельница", "http://example.com/a/?name=%EC%E5%EB%FC%ED%E8%F6%E0"},
		{"euc-kr", "http://other.example/v?k=방앗간#간", "http://other.example/v?k=%B9%E6%BE%D1%B0%A3"},
		{"windows-1252", "café/?q=café", "http://example.com/a/caf%C3%A9/?q=caf%E9"}, // a path is in UTF-8
		{"windows-1252", "?q=€ & 水", "http://example.com/a/?q=%80%20&%20%26%2327700%3B"},
		{"windows-1252", "#?q=é", "http://example.com/a/"},
		{"iso-2022-jp", "?q=水", "http://example.com/a/?q=%1B$B?e%1B(B"},
		{"big5", "?q=a", "http://example.com/a/?q=a"},
		{"utf-16le", "?q=é", "http://example.com/a/?q=%C3%A9"},
		{"", "?q=é", "http://example.com/a/?q=%C3%A9"},
		{"no such name", "?q=é", "http://example.com/a/?q=%C3%A9"},
		{"gbk", "?q=\xe9", "http://example.com/a/?q=%E9"},
	} {
		for _, baseHref := range []string{"", "./?x"} {
			base, err := NewBase(page, baseHref, tt.charset)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := base.Resolve(tt.href); got != tt.want && tt.href[0] != '#' || err != nil {
				t.Errorf("%s, %q: got %q, %v, want %q", tt.charset, tt.href, got, err, tt.want)
			}
		}
	}
}

// The canonical form of a URL does not change when it is resolved again, whatever the encoding.
func TestQueryEncodingRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		charset := rapid.SampledFrom([]string{"gbk", "gb18030", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "big5", "windows-1251", "iso-8859-5", "koi8-r"}).Draw(t, "charset")
		base, err := NewBase("http://example.com/", "", charset)
		if err != nil {
			t.Fatal(err)
		}
		once, err := base.Resolve("/?" + rapid.String().Draw(t, "query"))
		if err != nil {
			t.Skip()
		}
		if twice, err := base.Resolve(once); twice != once || err != nil {
			t.Fatalf("%q becomes %q, %v", once, twice, err)
		}
	})
}

func TestNewBase(t *testing.T) {
	tests := []struct {
		name, page, base string
		want             string // URL to which the link "x" leads
	}{
		{"none", "https://example.com/a/b", "", "https://example.com/a/x"},
		{"the page becomes canonical", "HTTPS://u@Example.com:443/a/b#c", "", "https://example.com/a/x"},
		{"absolute", "https://example.com/a/b", "http://example.org/c/d", "http://example.org/c/x"},
		{"relative", "https://example.com/a/b", "../c/", "https://example.com/c/x"},
		{"other host", "https://example.com/a/b", "//example.org", "https://example.org/x"},
		{"without a slash at its end", "https://example.com/a/b", "/c", "https://example.com/x"},
		{"no URL, HTML 4.2.3", "https://example.com/a/b", "https://", "https://example.com/a/x"},
		{"a script, HTML 4.2.3", "https://example.com/a/b", "javascript:0", "https://example.com/a/x"},
		{"a disk", "https://example.com/a/b", "file:///C:/site/", "https://example.com/a/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, err := NewBase(tt.page, tt.base, "")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := base.Resolve("x"); err != nil || got != tt.want {
				t.Errorf("base %q, then x = %q, %v, want %q", tt.base, got, err, tt.want)
			}
		})
	}
	if _, err := NewBase("a/b", "", ""); !errors.Is(err, ErrScheme) {
		t.Errorf("a relative page URL: %v, want %v", err, ErrScheme)
	}
}

func TestResolvePlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page := drawURL(t)
		if rapid.IntRange(0, 3).Draw(t, "deep") == 0 {
			page += strings.Repeat("/folder", 80) + drawPath(t)
		}
		base, err := NewBase(page, "", "")
		if err != nil {
			t.Skip("no base")
		}
		href := drawPath(t)
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			href = strings.Repeat(href, 40) // makes lengths around the limits likely
		}
		if rapid.Bool().Draw(t, "absolute") {
			href = drawURL(t)
		}
		checkResolve(t, base, href)
		checkResolve(t, base, base.origin+href)
	})
}

func FuzzResolve(f *testing.F) {
	for _, href := range []string{
		"", "#a", "?b", "c/d.html", "../e", "./../f?g#h", "/i/./j", "//k.example/l", "https://m.example?n", "mailto:o",
		"%70/%2E./q", "\\r", "/s t", "https:u", "/v:w", "x:y", "/..", "//1.2/", "..//z", "http://example.com:80/",
		"//1.2.3.4:81/", "https://a.5:6/", "//a:65535?b",
	} {
		f.Add("https://example.com/a//b/c.html?q=1", href)
		f.Add("http://127.0.0.1:8080", href)
	}
	f.Add("http://a.xn--:8080/b/c", "//XN--b:80/../d")
	f.Add("http://xn--a/"+strings.Repeat("folder/", 80), "../e?f")
	f.Add("http://example.com/"+strings.Repeat("folder/", 80), "\xc3\xa9/..\\../http:?a/../b")
	f.Fuzz(func(t *testing.T, page, href string) {
		base, err := NewBase(page, "", "")
		if err != nil {
			t.Skip("no base")
		}
		checkResolve(t, base, href)
	})
}

// resolveWhole resolves a link with the relative state of the library's parser.
func resolveWhole(base *Base, href string) (string, error) {
	ref := escapeBytes(stripBlanks(href))
	if s := scheme(ref); s != "" && !isWeb(s) {
		return "", ErrScheme
	}
	if err := checkBounds(href, ref); err != nil {
		return "", err
	}
	page, err := parse(base.page)
	if err != nil {
		return "", err
	}
	u, err := page.Parse(ref)
	if err != nil {
		return "", err
	}
	return serialize(href, u)
}

// checkResolve compares Resolve with the full parser: both must return the same URL, or both an
// error.
func checkResolve(t fataler, base *Base, href string) {
	if len(href) > MaxURL {
		return
	}
	want, wantErr := resolveWhole(base, href)
	if got, ok := base.resolvePlain(href); ok && (got != want || wantErr != nil) {
		t.Fatalf("%q on %s: plain %q, parsed %q, %v", href, base.page, got, want, wantErr)
	}
	if got, err := base.resolveParsed(href); got != want || (err == nil) != (wantErr == nil) {
		t.Fatalf("%q on %s: parsed %q, %v, by the library %q, %v", href, base.page, got, err, want, wantErr)
	}
	got, err := base.Resolve(href)
	if got != want || (err == nil) != (wantErr == nil) {
		t.Fatalf("%q on %s: got %q, %v, parsed %q, %v", href, base.page, got, err, want, wantErr)
	}
	if err != nil {
		return
	}
	if again, err := canonicalParsed(got); again != got || err != nil {
		t.Fatalf("%q on %s = %q, which is not canonical: %q, %v", href, base.page, got, again, err)
	}
}

// A page can have some hundred thousand links, and a URL of the greatest length. The cost of a link
// must be proportional to that length. The parser alone would take 2 ms and 2 MB for each link.
func TestResolveHostileIsBounded(t *testing.T) {
	const links = 200
	for _, page := range []string{
		"http://example.com/" + strings.Repeat("a/", maxSlashes-10),
		"http://example.com/" + strings.Repeat(strings.Repeat("a", 14)+"/", maxSlashes-10),
		"http://example.com/" + strings.Repeat("a", MaxURL-100) + "/",
	} {
		base, err := NewBase(page, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, href := range []string{"x", "é", "é/../x", "../x", "?é", "/é", "//é.example/", "http:é", "é#é", "http://example.org/é"} {
			checkResolve(t, base, href)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range links {
				base.Resolve(href)
			}
			runtime.ReadMemStats(&after)
			if perLink := (after.TotalAlloc - before.TotalAlloc) / links; perLink > 40*MaxURL {
				t.Errorf("%q below %.40s… takes %d bytes of memory", href, page, perLink)
			}
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	base, err := NewBase("https://docs.example.org/library/text/shingles.html?lang=en", "", "")
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct{ name, href string }{
		{"relative", "measures/resemblance.html#definition"},
		{"climbing", "../../genindex.html"},
		{"rooted", "/library/index.html?highlight=shingle&page=2"},
		{"fragment", "#examples"},
		{"absolute", "https://docs.example.org/library/text/sketches.html"},
		{"elsewhere", "https://www.example.com/about/contact.html"},
		{"escaped", "/wiki/%D0%A1%D1%86%D0%B8%D0%BD%D0%BA"},
		{"mail", "mailto:someone@example.com"},
		{"parsed", "/wiki/Сцинк"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				base.Resolve(bb.href)
			}
		})
	}
}

func BenchmarkNewBase(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewBase("https://docs.example.org/library/text/shingles.html?lang=en", "", ""); err != nil {
			b.Fatal(err)
		}
	}
}
