package frontier

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	whatwgerrors "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// # The identity of a page
//
// Two spellings of one URL must be one page, and two pages must never be one URL. The first mistake
// costs a fetch, and the second loses a page. So only what the standards call equivalent is folded
// together:
//
//   - The URL Standard (https://url.spec.whatwg.org) says what a browser would ask for. Its
//     serialisation has a lower-case host in ASCII, no default port, no dot segments, slashes for
//     backslashes, and no tabs, line ends or outer spaces. What it means for hosts in ASCII stands
//     in punycode.go.
//   - The fragment and the user info go. A fragment never reaches the server, and user info is not
//     the page's: a fetch that needs a password does not belong to a public crawl.
//   - RFC 3986, section 6.2.2, writes the digits of %XX in capitals, and the unreserved characters
//     (A-Z a-z 0-9 - . _ ~) as themselves.
//
// What is kept, because it can matter to a server: the order and the repetition of query
// parameters, an empty query ("/a?" is not "/a": both standards keep the question mark), empty path
// segments ("/a//b"), a trailing dot of the host, the case of the path, "www.", and the scheme.
//
// RFC 3986 did not think of one thing, a lone per cent sign. The URL Standard keeps "%%32e" as it
// is; decoding its %32 would give "%2e", which means a dot the next time it is read. An escape that
// would complete another one therefore stays, and the canonical form of a canonical form is itself.
//
// What it gets wrong: a browser escapes the query of a link in the encoding of the link's page, and
// this escapes it in UTF-8 always. So links with a query can be wrong on pages in a legacy
// encoding.

// MaxURL is the longest URL that is crawled, in bytes, as written and as canonical. RFC 9110,
// section 4.1, asks everyone to support 8,000 octets and nobody to support more; what is longer is
// data in a link, or a trap.
const MaxURL = 8000

// Two more bounds: the parser's time grows with the square of both, and one page can hold a
// thousand links of 8,000 bytes.
const (
	// maxAuthority is for user info, host and port together, in bytes. A DNS name ends at 253
	// octets, written as escapes at 759. 8,000 bytes of "@" would cost 0.2 s.
	maxAuthority = 1024
	// maxSlashes is for the slashes before the query. A site with folders this deep links to itself
	// in circles. 4,000 of them would cost 12 ms.
	maxSlashes = 512
)

var (
	// ErrScheme is a URL that has no scheme, or another than http and https. On a page such links
	// (mailto:, javascript:, data:) are ordinary.
	ErrScheme = errors.New("not an http or https URL")

	// ErrTooLong is a URL of more than [MaxURL] bytes, or of more folders than any site has.
	ErrTooLong = errors.New("URL too long")

	// ErrInvalid is a URL that a browser could not open either: no host, a host or a port that
	// cannot be.
	ErrInvalid = errors.New("invalid URL")
)

// The parser is the library's own, but for "^" in a path: the URL Standard escapes it by now, the
// library (v0.6.2) does not yet.
var parser = whatwg.NewParser(
	whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
)

// Canonical returns the form of an absolute URL by which its page is known; the essay above says
// what that form is. It is ASCII, at most [MaxURL] bytes, and its own canonical form. The errors
// are [ErrScheme], [ErrTooLong] and [ErrInvalid], wrapped with the URL and what to try.
func Canonical(rawURL string) (string, error) {
	if len(rawURL) > MaxURL {
		return "", tooLong(rawURL)
	}
	if len(rawURL) <= maxPlain {
		if u, ok := canonicalPlain(withoutFragment(rawURL)); ok {
			return u, nil
		}
	}
	return canonicalParsed(rawURL)
}

// canonicalParsed is [Canonical] by the whole of the standard's parser.
func canonicalParsed(rawURL string) (string, error) {
	ref := stripBlanks(rawURL)
	s := scheme(ref)
	if s == "" {
		return "", fmt.Errorf("%s: %w: it has no scheme; try https:// in front of it", quote(rawURL), ErrScheme)
	}
	if !isWeb(s) {
		return "", otherScheme(rawURL, s)
	}
	if err := checkBounds(rawURL, ref); err != nil {
		return "", err
	}
	hidden, host, isHidden := hideHost(ref)
	if isHidden {
		ref = hidden
	}
	u, err := parser.Parse(ref)
	if err != nil {
		return "", invalid(rawURL, err)
	}
	s, err = serialize(rawURL, u)
	if err != nil || !isHidden {
		return s, err
	}
	s = showHost(s, host)
	return s, checkBounds(rawURL, s)
}

// serialize writes a parsed URL in canonical form; rawURL is for messages. It refuses a host that
// the parser would not read back as the same host: IDNA maps some to a name that it then finds
// invalid ("≠" is one), and a form that cannot be read again cannot be a key.
func serialize(rawURL string, u *whatwg.Url) (string, error) {
	if host := u.Hostname(); !plainHost(host) {
		again, err := parser.Parse("http://" + host)
		if err != nil {
			return "", invalid(rawURL, err)
		}
		if again.Hostname() != host {
			return "", fmt.Errorf("%s: %w: its host becomes %q, then %q; check the host", quote(rawURL), ErrInvalid, host, again.Hostname())
		}
	}
	u.SetUsername("")
	u.SetPassword("")
	s := decodeUnreserved(u.Href(true))
	if err := checkBounds(rawURL, s); err != nil {
		return "", err
	}
	return s, nil
}

// decodeUnreserved writes escapes in capitals and unreserved characters as themselves, but for
// escapes that would complete another (see above).
func decodeUnreserved(s string) string {
	first := strings.IndexByte(s, '%')
	if first < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:first]...)
	lone := -3 // where in out the last per cent sign stands that starts no escape
	for i := first; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		c, ok := unescape(s[i:])
		if !ok {
			lone = len(out)
			out = append(out, '%')
			continue
		}
		afterLone := len(out)-lone == 1 || len(out)-lone == 2 && isHex(out[len(out)-1])
		if bytesOf[c]&unreserved != 0 && !(afterLone && isHex(c)) {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex(s[i+1]), upperHex(s[i+2]))
		}
		i += 2
	}
	return string(out)
}

// unescape reads the %XX that s starts with.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 || !isHex(s[1]) || !isHex(s[2]) {
		return 0, false
	}
	return hexValue(s[1])<<4 | hexValue(s[2]), true
}

func isHex(c byte) bool { return bytesOf[c]&hexDigit != 0 }

func upperHex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 'A'
	}
	return c
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return upperHex(c) - 'A' + 10
}

// stripBlanks does the first steps of the basic URL parser: outer control characters and spaces go,
// then tabs and line ends anywhere.
func stripBlanks(s string) string {
	s = trimBlanks(s)
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
}

// trimBlanks removes outer C0 control characters and spaces.
func trimBlanks(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// scheme returns the scheme of a URL or a reference without blanks, in lower case, or "" where it
// has none (URL Standard 4.4, scheme states).
func scheme(s string) string {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		case i == 0:
			return ""
		case c == ':':
			return strings.ToLower(s[:i])
		case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		default:
			return ""
		}
	}
	return ""
}

func isWeb(scheme string) bool { return scheme == "http" || scheme == "https" }

// authorityLen is the length of what stands between the slashes and the path of a URL or a
// reference without blanks; 0 if it has no such part. For "http:a/b", which can be either a host or
// a path, it counts the "a".
func authorityLen(ref string) int {
	s := scheme(ref)
	rest := ref
	if s != "" {
		rest = ref[len(s)+1:]
	}
	authority := strings.TrimLeft(rest, `/\`)
	if s == "" && len(rest)-len(authority) < 2 {
		return 0
	}
	if end := strings.IndexAny(authority, `/\?#`); end >= 0 {
		return end
	}
	return len(authority)
}

// checkBounds refuses a URL or a reference without blanks that would take long to parse; rawURL is
// for messages.
func checkBounds(rawURL, ref string) error {
	path := ref
	if end := strings.IndexAny(ref, "?#"); end >= 0 {
		path = ref[:end]
	}
	switch {
	case len(ref) > MaxURL:
		return tooLong(rawURL)
	case authorityLen(ref) > maxAuthority:
		return fmt.Errorf("%s: %w: its host has more than %d bytes; check the host", quote(rawURL), ErrInvalid, maxAuthority)
	case strings.Count(path, "/")+strings.Count(path, `\`) > maxSlashes:
		return fmt.Errorf("%s: %w: it has more than %d slashes; try a page nearer to the site's root", quote(rawURL), ErrTooLong, maxSlashes)
	}
	return nil
}

func tooLong(rawURL string) error {
	return fmt.Errorf("%s: %w: it has more than %d bytes; try it without its parameters", quote(rawURL), ErrTooLong, MaxURL)
}

func otherScheme(rawURL, scheme string) error {
	return fmt.Errorf("%s: %w but %s; if that is a host, put https:// in front of it", quote(rawURL), ErrScheme, scheme)
}

// invalid wraps the parser's error, without the URL that it repeats.
func invalid(rawURL string, err error) error {
	why := string(whatwgerrors.Type(err))
	if why == "" {
		why = err.Error()
	}
	return fmt.Errorf("%s: %w: %s; check the host and the port", quote(rawURL), ErrInvalid, why)
}

// quote shows a URL in a message: the beginning of a long one, and without what may be a password,
// for messages are printed, and stored in records.
func quote(rawURL string) string {
	const most = 200
	rawURL = withoutUser(rawURL)
	if len(rawURL) <= most {
		return fmt.Sprintf("%q", rawURL)
	}
	return fmt.Sprintf("%q…", rawURL[:most])
}

// withoutUser takes the user info out of what may be a URL of any scheme.
func withoutUser(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	start := strings.IndexAny(s, `:/\?#@`)
	if s[start] != ':' { // it has no scheme
		start = 0
	}
	start += len(s[start:]) - len(strings.TrimLeft(s[start:], ":/\\\t\n\r"))
	end := len(s)
	if i := strings.IndexAny(s[start:], `/\?#`); i >= 0 {
		end = start + i
	}
	if at := strings.LastIndexByte(s[start:end], '@'); at >= 0 {
		return s[:start] + "…" + s[start+at:]
	}
	return s
}

// ID is the key of a page: the first 128 bits of the SHA-256 of its canonical URL. Anyone can
// recompute it, nobody can find two URLs that share one.
func ID(canonicalURL string) [16]byte {
	sum := sha256.Sum256([]byte(canonicalURL))
	return [16]byte(sum[:16])
}
