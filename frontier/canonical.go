package frontier

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	whatwgerrors "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// # The identity of a page
//
// Two spellings of one URL must identify the same page, and two pages must never get the same URL.
// The first mistake costs a fetch, and the second loses a page. So this package folds together only
// those spellings that the standards call equivalent:
//
//   - The URL Standard (https://url.spec.whatwg.org) defines the URL that a browser would request.
//     Its serialization has a lower-case host in ASCII, no default port, no dot segments, slashes
//     for backslashes, and no tabs, line breaks or surrounding spaces. punycode.go describes its
//     rules for hosts in ASCII.
//   - The fragment and the user info are removed. A fragment never reaches the server. User info
//     does not identify the page, and a page that needs a password does not belong in a public
//     crawl.
//   - By RFC 3986, section 6.2.2, the digits of %XX are written in capitals, and the unreserved
//     characters (A-Z a-z 0-9 - . _ ~) as themselves.
//
// These parts are kept, because they can matter to a server: the order and repetition of query
// parameters, an empty query ("/a?" is not "/a": both standards keep the question mark), empty path
// segments ("/a//b"), a trailing dot of the host, the case of the path, "www.", and the scheme.
//
// RFC 3986 does not cover a lone percent sign. The URL Standard keeps "%%32e" as it is; decoding
// its %32 would give "%2e", which means a dot the next time it is read. So an escape that would
// complete another one is kept, and canonicalizing a canonical form does not change it.
//
// The query of a link is escaped in the encoding of the link's page; see query.go.

// MaxURL is the maximum length in bytes of a URL that is crawled, as written and in canonical form.
// RFC 9110, section 4.1, recommends support for at least 8,000 octets. Longer URLs contain data, or
// come from a site that generates ever longer links.
const MaxURL = 8000

// Two more limits on URLs, because one page can have a thousand links of 8,000 bytes, and some of
// them would take a long time to parse.
const (
	// maxAuthority is the maximum length in bytes of user info, host and port together. A DNS name
	// has at most 253 octets, and 759 if each is written as %XX. Parsing time is quadratic in this
	// length: 8,000 bytes of "@" would take 0.2 s.
	maxAuthority = 1024
	// maxSlashes is the maximum number of slashes before the query. A site with deeper folders
	// probably has circular links. Parsing time is quadratic in the number of slashes: 4,000 would
	// take 12 ms.
	maxSlashes = 512
)

var (
	// ErrScheme is returned for a URL without a scheme, or with a scheme other than http or https.
	// Links with other schemes, such as mailto: and javascript:, are common on pages.
	ErrScheme = errors.New("not an http or https URL")

	// ErrTooLong is returned for a URL of more than [MaxURL] bytes, or with too many slashes.
	ErrTooLong = errors.New("URL too long")

	// ErrInvalid is returned for a URL that a browser cannot open either, because its host or port
	// is missing or malformed.
	ErrInvalid = errors.New("invalid URL")
)

// Canonical returns the canonical form of an absolute URL, which identifies a page: two spellings
// of one URL have the same form. The result is ASCII and at most [MaxURL] bytes long, and is its
// own canonical form. The errors are [ErrScheme], [ErrTooLong] and [ErrInvalid], wrapped with the
// URL and a suggestion.
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

// canonicalParsed does the work of [Canonical] with the full parser of the URL Standard. Canonical
// calls it for URLs that the fast check in plain.go cannot handle.
func canonicalParsed(rawURL string) (string, error) {
	ref := escapeBytes(stripBlanks(rawURL))
	s := scheme(ref)
	if s == "" {
		return "", fmt.Errorf("%s: %w, because it has no scheme; put https:// in front of it", quote(rawURL), ErrScheme)
	}
	if !isWeb(s) {
		return "", otherScheme(rawURL, s)
	}
	if err := checkBounds(rawURL, ref); err != nil {
		return "", err
	}
	return parsed(rawURL, ref)
}

// parsed returns the canonical form of the absolute URL ref, which must not contain blanks; rawURL
// is for error messages.
func parsed(rawURL, ref string) (string, error) {
	u, err := parse(ref)
	if err != nil {
		return "", invalid(rawURL, err)
	}
	return serialize(rawURL, u)
}

// serialize returns the canonical form of a parsed URL; rawURL is for error messages.
func serialize(rawURL string, u *whatwg.Url) (string, error) {
	u.SetUsername("")
	u.SetPassword("")
	s := decodeUnreserved(u.Href(true))
	if err := checkBounds(rawURL, s); err != nil {
		return "", err
	}
	return s, nil
}

// decodeUnreserved writes the hex digits of each %XX in upper case, and decodes each %XX that
// encodes a letter, a digit, or one of "-._~". It does not decode one that would then complete
// another escape: "%%32e" stays, because decoding %32 would give "%2e".
func decodeUnreserved(s string) string {
	first := strings.IndexByte(s, '%')
	if first < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:first]...)
	lone := -3 // index in out of the last "%" that does not begin an escape
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

// stripBlanks removes control characters and spaces at both ends of s, and all tabs and line breaks
// in s. These are the first steps of the basic URL parser in the URL Standard.
func stripBlanks(s string) string {
	s = trimBlanks(s)
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
}

// escapeBytes writes the non-ASCII bytes of s as %XX if s is not valid UTF-8. A header may contain
// such a URL, and browsers request its bytes as they are.
func escapeBytes(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

func trimBlanks(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// scheme returns the scheme of a URL or relative reference in lower case, such as "http", or "" if
// it has none. s must not begin with blanks. See URL Standard 4.4, scheme states.
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

// authorityLen returns the length in bytes of the authority in a URL or relative reference: user
// info, host and port. It returns 0 if there is none. In "http:a/b", "a" may be a host or the
// beginning of a path; authorityLen counts it as a host.
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

// checkBounds returns an error for a URL or relative reference that would take a long time to
// parse, because its authority is too long or it has too many slashes. ref is rawURL without
// blanks; rawURL is only for the error message.
func checkBounds(rawURL, ref string) error {
	path := ref
	if end := strings.IndexAny(ref, "?#"); end >= 0 {
		path = ref[:end]
	}
	switch {
	case len(ref) > MaxURL:
		return tooLong(rawURL)
	case authorityLen(ref) > maxAuthority:
		return fmt.Errorf("%s: %w: the host is longer than %d bytes; check the host", quote(rawURL), ErrInvalid, maxAuthority)
	case strings.Count(path, "/")+strings.Count(path, `\`) > maxSlashes:
		return fmt.Errorf("%s: %w: more than %d slashes; try a page closer to the site's root", quote(rawURL), ErrTooLong, maxSlashes)
	}
	return nil
}

func tooLong(rawURL string) error {
	return fmt.Errorf("%s: %w: more than %d bytes; try the URL without parameters", quote(rawURL), ErrTooLong, MaxURL)
}

func otherScheme(rawURL, scheme string) error {
	return fmt.Errorf("%s: %w, because its scheme is %s; if that is a host, put https:// in front of it", quote(rawURL), ErrScheme, scheme)
}

// invalid returns [ErrInvalid] with the reason from err, a parser error, but without the URL that
// err repeats.
func invalid(rawURL string, err error) error {
	why := string(whatwgerrors.Type(err))
	if why == "" {
		why = err.Error()
	}
	return fmt.Errorf("%s: %w: %s; check the host and the port", quote(rawURL), ErrInvalid, why)
}

// quote returns a URL in quotes for an error message. It shortens the URL, and removes user info,
// because messages are printed and stored and must not contain passwords.
func quote(rawURL string) string {
	const most = 200
	rawURL = withoutUser(rawURL)
	if len(rawURL) <= most {
		return fmt.Sprintf("%q", rawURL)
	}
	return fmt.Sprintf("%q…", rawURL[:most])
}

// withoutUser removes the user info from s, which may be a URL of any scheme or something else.
func withoutUser(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	start := strings.IndexAny(s, `:/\?#@`)
	if s[start] != ':' { // the link has no scheme
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

// ID returns the key of a page: the first 16 bytes of the SHA-256 of its canonical URL. In
// practice, no two URLs have the same key.
func ID(canonicalURL string) [16]byte {
	sum := sha256.Sum256([]byte(canonicalURL))
	return [16]byte(sum[:16])
}

// HasScheme reports whether word begins with a scheme and "://", as a URL does. It returns false if
// white space, a quote or a bracket comes before "://", as in "see=http://example.com".
func HasScheme(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && !strings.ContainsAny(scheme, " \t\"'<>()=/")
}
