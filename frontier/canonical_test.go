package frontier

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	tests := []struct {
		name string // property that the row shows, with its section of the URL Standard (U) or RFC 3986 (R)
		url  string
		want string
	}{
		{"the deepest that is crawled", "http://example.com" + strings.Repeat("/a", maxSlashes-2), "http://example.com" + strings.Repeat("/a", maxSlashes-2)},
		{"slashes of a query do not count", "http://example.com/?" + strings.Repeat("/", MaxURL/2), "http://example.com/?" + strings.Repeat("/", MaxURL/2)},
		{"already canonical", "https://example.com/a/b.html?q=1", "https://example.com/a/b.html?q=1"},

		{"outer blanks and controls, U 4.4 step 1", " \x00\x1f http://example.com/a \n", "http://example.com/a"},
		{"tabs and line ends anywhere, U 4.4 step 3", "ht\ntp://exa\tmple.com/a\r\nb", "http://example.com/ab"},
		{"tabs also in escapes", "http://example.com/%4\t1", "http://example.com/A"},

		{"scheme in lower case, U 4.4 scheme state", "HTTP://example.com/", "http://example.com/"},
		{"slashes are counted generously, U 4.4 special authority slashes", "http:example.com/a", "http://example.com/a"},
		{"and may be too many", "http:////example.com/a", "http://example.com/a"},
		{"or lean the other way", `http:\\example.com\a`, "http://example.com/a"},

		{"user info goes", "http://user:secret@example.com/", "http://example.com/"},
		{"also with more than one @, U 4.4 authority state", "http://a@b@example.com/", "http://example.com/"},
		{"and when empty", "http://@example.com/", "http://example.com/"},

		{"host in lower case, U 3.3", "http://EXAMPLE.Com/A", "http://example.com/A"},
		{"host in ASCII, U 3.3 domain to ASCII", "http://bücher.example/", "http://xn--bcher-kva.example/"},
		{"non-transitional: ß is itself", "http://faß.example/", "http://xn--fa-hia.example/"},
		{"a sign that UTS 46 once refused", "http://≠/", "http://xn--1ch/"},
		{"ideographic full stop", "http://example。com/", "http://example.com/"},
		{"full-width letters, soft hyphen", "http://ｅｘａ\u00admple.com/", "http://example.com/"},
		{"host percent-decoded, U 3.5 step 4", "http://ex%41mple.com/", "http://example.com/"},
		{"percent-decoded to other scripts", "http://%E4%BD%A0%E5%A5%BD.example/", "http://xn--6qq79v.example/"},
		{"already in ASCII", "http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"},
		{"punycode that is none", "http://XN--a/", "http://xn--a/"},
		{"punycode of nothing", "https://xn--/", "https://xn--/"},
		{"punycode of what UTS 46 maps away", "http://u:p@10.0.0.XN--pokxncvks:8080/a?b#c", "http://10.0.0.xn--pokxncvks:8080/a?b"},
		{"punycode in escapes", "http:\\\\%58n--pokxncvks:80\\a", "http://xn--pokxncvks/a"},
		{"composed, as UTS 46 maps", "http://bu\u0308cher.example/", "http://xn--bcher-kva.example/"},
		{"emoji", "http://☕.example/", "http://xn--53h.example/"},
		{"a joiner that shows nothing", "http://exa\u200bmple.com/", "http://example.com/"},
		{"a label longer than DNS allows, U 3.3 beStrict false", "http://" + strings.Repeat("a", 64) + ".example/", "http://" + strings.Repeat("a", 64) + ".example/"},
		{"a host of one label", "http://intranet/", "http://intranet/"},
		{"underscores and outer hyphens, U 3.3 beStrict false", "http://a_b.-c-.example/", "http://a_b.-c-.example/"},
		{"two hyphens in a label", "http://r3--sn.example/", "http://r3--sn.example/"},
		{"a trailing dot is kept", "http://example.com./", "http://example.com./"},
		{"www. is kept", "http://www.example.com/", "http://www.example.com/"},

		{"IPv4 in parts, U 3.5 IPv4 parser", "http://127.1/", "http://127.0.0.1/"},
		{"IPv4 as one number", "http://2130706433/", "http://127.0.0.1/"},
		{"IPv4 in octal and hexadecimal", "http://0177.0x0.0.1/", "http://127.0.0.1/"},
		{"IPv4 with a trailing dot", "http://127.0.0.1./", "http://127.0.0.1/"},
		{"IPv4 as the largest number", "http://0xffffffff/", "http://255.255.255.255/"},
		{"IPv4 in full-width digits", "http://１２７.0.0.1/", "http://127.0.0.1/"},
		{"IPv4 in escapes", "http://%31%32%37.0.0.1/", "http://127.0.0.1/"},
		{"IPv4 with an empty hexadecimal part, which is zero", "http://127.0.0x.1/", "http://127.0.0.1/"},
		{"IPv6 with the longest run shortened", "http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
		{"IPv6 with the first of two runs shortened", "http://[1:0:0:2:3:0:0:4]/", "http://[1::2:3:0:0:4]/"},
		{"IPv6 with one zero, which is not shortened", "http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"},
		{"IPv6 with a port", "http://[::1]:8080/", "http://[::1]:8080/"},
		{"IPv6 with the default port", "https://[::1]:443/", "https://[::1]/"},
		{"IPv6 shortened, U 3.6 IPv6 serializer", "http://[1:0:0:0:0:0:0:ABCD]/", "http://[1::abcd]/"},
		{"IPv6 with IPv4 inside", "http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"},

		{"default port of http, U 4.2", "http://example.com:80/", "http://example.com/"},
		{"default port of https", "https://example.com:443/", "https://example.com/"},
		{"of the other scheme it is none", "https://example.com:80/", "https://example.com:80/"},
		{"other port, without zeros", "http://example.com:08080/", "http://example.com:8080/"},
		{"empty port", "http://example.com:/", "http://example.com/"},
		{"port 0 is a port", "http://example.com:0/", "http://example.com:0/"},

		{"the largest port", "http://example.com:65535/", "http://example.com:65535/"},
		{"an @ in a path is no user info", "http://example.com/@user", "http://example.com/@user"},
		{"user info in escapes", "http://us%65r:p%40ss@example.com/", "http://example.com/"},
		{"user info with a colon only", "http://:@example.com/", "http://example.com/"},

		{"empty path, U 4.4 path start state", "http://example.com", "http://example.com/"},
		{"empty path before a query", "http://example.com?a", "http://example.com/?a"},
		{"dot segments, U 4.4 path state", "http://example.com/a/./b/../c", "http://example.com/a/c"},
		{"dot segments at the end", "http://example.com/a/b/..", "http://example.com/a/"},
		{"above the root is the root", "http://example.com/../../a", "http://example.com/a"},
		{"dot segments in escapes, U 4.1 double-dot", "http://example.com/a/%2E%2e/b/.%2e/%2e/c", "http://example.com/c"},
		{"an escape of an escape is none", "http://example.com/a/%252e%252e/b", "http://example.com/a/%252e%252e/b"},
		{"three dots are a name", "http://example.com/a/.../b", "http://example.com/a/.../b"},
		{"so is a dot before one", "http://example.com/.well-known/x", "http://example.com/.well-known/x"},
		{"backslashes of a path", `http://example.com\a\..\b`, "http://example.com/b"},
		{"but not of a query", `http://example.com/?a\b`, `http://example.com/?a\b`},
		{"empty segments are kept", "http://example.com//a///b", "http://example.com//a///b"},
		{"dot segments take empty ones", "http://example.com/a//../b", "http://example.com/a/b"},
		{"parameters of a path are kept", "http://example.com/a;b=1/c", "http://example.com/a;b=1/c"},

		{"path percent-encode set, U 1.3", "http://example.com/ \"<>^`{}é\x7f", "http://example.com/%20%22%3C%3E%5E%60%7B%7D%C3%A9%7F"},
		{"path: kept", "http://example.com/!$&'()*+,-.:;=@[]_|~", "http://example.com/!$&'()*+,-.:;=@[]_|~"},
		{"special-query percent-encode set, U 1.3", "http://example.com/? \"'<>é", "http://example.com/?%20%22%27%3C%3E%C3%A9"},
		{"query: kept", "http://example.com/?!$&()*+,-./:;=?@[\\]^_`{|}~", "http://example.com/?!$&()*+,-./:;=?@[\\]^_`{|}~"},
		{"C0 controls inside, U 1.3", "http://example.com/a\x01b?\x1f=", "http://example.com/a%01b?%1F="},
		{"a NUL inside", "http://example.com/a\x00b", "http://example.com/a%00b"},
		{"letters of four bytes", "http://example.com/𝄞?😀", "http://example.com/%F0%9D%84%9E?%F0%9F%98%80"},
		{"a line separator", "http://example.com/\u2028", "http://example.com/%E2%80%A8"},
		{"a byte order mark is a letter", "http://example.com/\ufeff", "http://example.com/%EF%BB%BF"},
		{"unassigned and private letters", "http://example.com/\ufdd0\ue000", "http://example.com/%EF%B7%90%EE%80%80"},
		{"bytes that are no UTF-8, as browsers request a Location", "http://example.com/caf\xe9/\xff", "http://example.com/caf%E9/%FF"},
		{"also beside UTF-8, and in a query", "http://example.com/中?q=\x8a\xbf 文", "http://example.com/%E4%B8%AD?q=%8A%BF%20%E6%96%87"},
		{"also with a host in UTF-8", "http://bücher.example/\xfc#\xfc", "http://xn--bcher-kva.example/%FC"},

		{"escapes in capitals, R 6.2.2.1", "http://example.com/%c3%a9?%3d", "http://example.com/%C3%A9?%3D"},
		{"unreserved decoded, R 6.2.2.2", "http://example.com/%7Euser/%41%7a%30%2D%2e%5f", "http://example.com/~user/Az0-._"},
		{"also in the query", "http://example.com/?%71=%31", "http://example.com/?q=1"},
		{"reserved ones are not", "http://example.com/a%2Fb%3fc%23?%26%3D%2b", "http://example.com/a%2Fb%3Fc%23?%26%3D%2B"},
		{"a plus is not a space", "http://example.com/?a%2Bb", "http://example.com/?a%2Bb"},
		{"escapes of bytes that are no UTF-8 stay", "http://example.com/caf%e9", "http://example.com/caf%E9"},
		{"escapes of controls stay", "http://example.com/%00%0d%0A", "http://example.com/%00%0D%0A"},
		{"an escaped backslash is none", "http://example.com/a%5c..%5cb", "http://example.com/a%5C..%5Cb"},
		{"an escaped @ in a host is none", "http://example.com/%40", "http://example.com/%40"},
		{"a space is not a plus", "http://example.com/?a+b%20c", "http://example.com/?a+b%20c"},
		{"a lone per cent sign is kept", "http://example.com/100%", "http://example.com/100%"},
		{"and with it what would complete an escape", "http://example.com/%%32e%2%65%%32%65", "http://example.com/%%32e%2%65%%32e"},
		{"but nothing else", "http://example.com/%%7E%g%41", "http://example.com/%~%gA"},

		{"order of the query is kept", "http://example.com/?b=2&a=1&b=1", "http://example.com/?b=2&a=1&b=1"},
		{"an empty query is kept, U 4.5", "http://example.com/a?", "http://example.com/a?"},
		{"as are empty parameters", "http://example.com/a?&&=&", "http://example.com/a?&&=&"},
		{"fragment goes", "http://example.com/a#b", "http://example.com/a"},
		{"also when empty", "http://example.com/a#", "http://example.com/a"},
		{"but not an empty query before it", "http://example.com/a?#b?c", "http://example.com/a?"},
		{"names of parameters in any case are different", "http://example.com/?A=1&a=1", "http://example.com/?A=1&a=1"},
		{"tracking parameters are kept: they are the site's to ignore", "http://example.com/?utm_source=a&gclid=b", "http://example.com/?utm_source=a&gclid=b"},
		{"index pages are not their folders", "http://example.com/index.html", "http://example.com/index.html"},
		{"nor folders with a slash those without", "http://example.com/a/", "http://example.com/a/"},
		{"a question mark in a query", "http://example.com/?a?b", "http://example.com/?a?b"},
		{"a fragment that looks like a page goes too", "http://example.com/#!/page/2?x=1", "http://example.com/"},
		{"blanks before a fragment are inside the URL", "http://example.com/a #b", "http://example.com/a%20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Canonical(tt.url)
			if err != nil || got != tt.want {
				t.Errorf("Canonical(%q) = %q, %v, want %q", tt.url, got, err, tt.want)
			}
			checkCanonical(t, tt.url)
		})
	}
}

func TestCanonicalErrors(t *testing.T) {
	tests := []struct {
		name string
		url  string
		want error
	}{
		{"nothing", "", ErrScheme},
		{"no scheme", "example.com/a", ErrScheme},
		{"path only", "/a/b", ErrScheme},
		{"a host only looks like a scheme", "example.com:8080/a", ErrScheme},
		{"schemes start with a letter, U 4.4", "1http://example.com/", ErrScheme},
		{"mail", "mailto:someone@example.com", ErrScheme},
		{"script", "javascript:void(0)", ErrScheme},
		{"file", "file:///etc/hosts", ErrScheme},
		{"ftp", "ftp://example.com/", ErrScheme},
		{"the source of a page", "view-source:http://example.com/", ErrScheme},
		{"web sockets", "wss://example.com/", ErrScheme},
		{"data", "data:text/html,a", ErrScheme},
		{"blob", "blob:https://example.com/1", ErrScheme},
		{"a relative scheme", "//example.com/", ErrScheme},
		{"an escaped scheme", "%68ttp://example.com/", ErrScheme},
		{"no host, U 4.4 host state", "http://", ErrInvalid},
		{"no host before a port", "http://:80/", ErrInvalid},
		{"no host after user info", "http://user@/", ErrInvalid},
		{"space in a host, U 3.2 forbidden domain code point", "http://a b/", ErrInvalid},
		{"forbidden code points one by one: #", "http://a%23b/", ErrInvalid},
		{"/", "http://a%2fb/", ErrInvalid},
		{"<", "http://a<b/", ErrInvalid},
		{">", "http://a>b/", ErrInvalid},
		{"|", "http://a|b/", ErrInvalid},
		{"^", "http://a^b/", ErrInvalid},
		{"[", "http://a[b/", ErrInvalid},
		{"]", "http://a]b/", ErrInvalid},
		{"NUL", "http://a\x00b/", ErrInvalid},
		{"NUL in an escape", "http://a%00b/", ErrInvalid},
		{"delete", "http://a\x7fb/", ErrInvalid},
		{"a colon in an escape", "http://a%3a80/", ErrInvalid},
		{"full-width per cent sign", "http://％４１.example/", ErrInvalid},
		{"a host that is no UTF-8", "http://%ff.example/", ErrInvalid},
		{"letters and direction mixed, UTS 46 CheckBidi", "http://aא.example/", ErrInvalid},
		{"a joiner between letters that do not join, UTS 46 CheckJoiners", "http://a\u200cb.example/", ErrInvalid},
		{"per cent sign in a host", "http://a%25b/", ErrInvalid},
		{"host of nothing but a soft hyphen", "http://\u00ad/", ErrInvalid},
		{"punycode that is none, beside another script", "http://xn--a.bücher.example/", ErrInvalid},
		{"punycode before a number, which has to be an address", "http://xn--a.1/", ErrInvalid},
		{"punycode with a space in it", "http://xn--a%20b/", ErrInvalid},
		{"punycode with a port that cannot be", "http://xn--a:99999/", ErrInvalid},
		{"IPv4 out of range", "http://256.0.0.1/", ErrInvalid},
		{"IPv4 with five parts", "http://1.2.3.4.5/", ErrInvalid},
		{"a name that ends in a number, U 3.5 ends-in-a-number", "http://example.1/", ErrInvalid},
		{"IPv4 too large as a number", "http://4294967296/", ErrInvalid},
		{"IPv4 too large in its last part", "http://127.0.0.256/", ErrInvalid},
		{"IPv4 with a part of letters", "http://1.2.3.08/", ErrInvalid},
		{"IPv4 with an empty part", "http://1..2/", ErrInvalid},
		{"IPv6 without brackets", "http://2001:db8::1/", ErrInvalid},
		{"IPv6 with two runs", "http://[1::2::3]/", ErrInvalid},
		{"IPv6 too long", "http://[1:2:3:4:5:6:7:8:9]/", ErrInvalid},
		{"IPv6 too short", "http://[1:2:3]/", ErrInvalid},
		{"IPv6 with letters", "http://[::g]/", ErrInvalid},
		{"IPv6 of nothing", "http://[]/", ErrInvalid},
		{"IPv6 with IPv4 in octal", "http://[::ffff:0177.0.0.1]/", ErrInvalid},
		{"a name in brackets", "http://[example.com]/", ErrInvalid},
		{"IPv6 unclosed", "http://[::1/", ErrInvalid},
		{"IPv6 with a zone", "http://[fe80::1%25eth0]/", ErrInvalid},
		{"port too large", "http://example.com:65536/", ErrInvalid},
		{"port with a sign", "http://example.com:+80/", ErrInvalid},
		{"port in other digits", "http://example.com:８０/", ErrInvalid},
		{"port after a port", "http://example.com:80:80/", ErrInvalid},
		{"port of letters", "http://example.com:http/", ErrInvalid},
		{"too long as written", "http://example.com/" + strings.Repeat("a", MaxURL), ErrTooLong},
		{"too long as canonical", "http://example.com/" + strings.Repeat("é", MaxURL/3), ErrTooLong},
		{"too deep", "http://example.com" + strings.Repeat("/a", maxSlashes), ErrTooLong},
		{"host too long", "http://" + strings.Repeat("a.", maxAuthority/2) + "example/", ErrInvalid},
		{"host too long in ASCII", "http://" + strings.Repeat("א.", maxAuthority/4) + "example/", ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Canonical(tt.url); !errors.Is(err, tt.want) {
				t.Errorf("Canonical(%q) = %q, %v, want %v", tt.url, got, err, tt.want)
			}
		})
	}
}

// An error message has the URL, shortened if it is long, and a suggestion.
func TestCanonicalMessages(t *testing.T) {
	tests := []struct{ url, want string }{
		{"example.com", `"example.com": not an http or https URL, because it has no scheme; put https:// in front of it`},
		{"localhost:8080", `"localhost:8080": not an http or https URL, because its scheme is localhost; if that is a host, put https:// in front of it`},
		{"http://", `"http://": invalid URL: The input has a special scheme, but does not contain a host; check the host and the port`},
		{"ftp://user:secret@example.com/a@b", `"ftp://…@example.com/a@b": not an http or https URL, because its scheme is ftp; if that is a host, put https:// in front of it`},
		{"http://user:se@cret@[", `"http://…@[": invalid URL: An IPv6 address is missing the closing U+005D (]); check the host and the port`},
		{"user:secret@example.com", `"user:…@example.com": not an http or https URL, because its scheme is user; if that is a host, put https:// in front of it`},
		{"//user:secret@example.com/", `"//…@example.com/": not an http or https URL, because it has no scheme; put https:// in front of it`},
		{"http:\t/\n/user:secret@", `"http:\t/\n/…@": invalid URL: The input includes credentials; check the host and the port`},
		{"http://" + strings.Repeat("secret", 40) + "@a:x/", `"http://…@a:x/": invalid URL: The input's port is not a number; check the host and the port`},
		{"http://a/" + strings.Repeat("b", MaxURL), `"http://a/` + strings.Repeat("b", 191) + `"…: URL too long: more than 8000 bytes; try the URL without parameters`},
	}
	for _, tt := range tests {
		if _, err := Canonical(tt.url); err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// A page with hostile links must not keep the crawler busy: 1,000 of these links make a page of 8
// MB. Each link takes at most a few milliseconds. The limit in the test is larger, for busy
// machines.
func TestCanonicalHostileIsBounded(t *testing.T) {
	for _, url := range []string{
		"http://" + strings.Repeat("@", MaxURL-10) + "a",
		"http:\t/" + strings.Repeat("@", MaxURL-10),
		"http://" + strings.Repeat("丁", MaxURL/3-10),
		"http://a/" + strings.Repeat("^/", MaxURL/2-10),
		"http://a/" + strings.Repeat("../", MaxURL/3-10),
		"http://" + strings.Repeat("@", maxAuthority-1) + "a",
		"http://" + strings.Repeat("丁", maxAuthority/3),
		"http://a/" + strings.Repeat("^/", maxSlashes-3) + strings.Repeat("^", MaxURL/4),
	} {
		start := time.Now()
		Canonical(url)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("Canonical(%q…) took %v", url[:20], d)
		}
	}
}

func TestCanonicalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkCanonical(t, drawURL(t)) })
}

func FuzzCanonical(f *testing.F) {
	for _, url := range []string{
		"http://example.com/", "HTTPS://u:p@EXAMPLE.com:443/%7e/../a?b=%41#c", "http://[::1]:80/%%32e",
		"http://0x7f.1/", "http://bücher.example./", "http:\\\\a\\b", "http://xn--1ch/", "//a", "http://≠/",
	} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) { checkCanonical(t, url) })
}

type fataler interface{ Fatalf(string, ...any) }

// checkCanonical checks the promises of Canonical that hold for every string.
func checkCanonical(t fataler, url string) {
	got, err := Canonical(url)
	parsed, parsedErr := canonicalParsed(url)
	if len(url) <= MaxURL && (got != parsed || (err == nil) != (parsedErr == nil)) {
		t.Fatalf("Canonical(%q) = %q, %v; by the parser %q, %v", url, got, err, parsed, parsedErr)
	}
	if err != nil {
		if !errors.Is(err, ErrScheme) && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooLong) {
			t.Fatalf("Canonical(%q): an error without a sentinel: %v", url, err)
		}
		return
	}
	again, err := canonicalParsed(got)
	if err != nil || again != got {
		t.Fatalf("Canonical(%q) = %q, whose canonical form is %q, %v", url, got, again, err)
	}
	if len(got) > MaxURL {
		t.Fatalf("Canonical(%q) has %d bytes", url, len(got))
	}
	if HostOf(got) == "" {
		t.Fatalf("Canonical(%q) = %q, which has no host", url, got)
	}
	for _, c := range []byte(got) {
		if c <= ' ' || c >= 0x7f || c == '#' {
			t.Fatalf("Canonical(%q) = %q, which contains %q", url, got, c)
		}
	}
}

// drawURL generates a random URL from pieces that matter to the parser.
func drawURL(t *rapid.T) string {
	scheme := rapid.SampledFrom([]string{"http://", "https://", "HTTP://", "http:", "//", "ftp://", ""}).Draw(t, "scheme")
	host := rapid.SampledFrom([]string{
		"example.com", "example.com:80", "a.b-c.example", "xn--bcher-kva.example", "bücher.example", "EXAMPLE.com",
		"127.0.0.1", "0x7f.1", "1.2", "[::1]:8080", "u:p@example.com", "example.com.", "a--b.c", "-a.b", "a_b", "a.1b", "a..b", "",
	}).Draw(t, "host")
	return scheme + host + rapid.SampledFrom([]string{"", "/", "?", "#"}).Draw(t, "then") + drawPath(t)
}

func drawPath(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"a", "B7", "index.html", ".", "..", "...", "/", "/", "/", "//", "?", "#", "=", "&", ":", ";", "'", "\\", " ", "\t", "\n",
		"%", "%2", "%2e", "%2E", "%2F", "%2f", "%41", "%C3%A9", "%32", "%g", "é", "\xff", "^", "|", "{", "~", "[", "@", "\"", "http:",
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "path"), "")
}

// The key appears in the feed, and users can compute it from the URL with a shell command:
//
//	printf %s https://example.com/ | sha256sum | cut -c 1-32
func TestID(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://example.com/", "0f115db062b7c0dd030b16878c99dea5"},
		{"http://example.com/", "2a1b402420ef46577471cdc7409b0fa2"},
	}
	for _, tt := range tests {
		id := ID(tt.url)
		if got := hex.EncodeToString(id[:]); got != tt.want {
			t.Errorf("ID(%q) = %s, want %s", tt.url, got, tt.want)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, bb := range []struct{ name, url string }{
		{"plain", "https://en.example.org/wiki/Shingle_(text)?action=history&offset=20"},
		{"parsed", "https://en.example.org/wiki/Shingle (text)?action=history&offset=20"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Canonical(bb.url); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
