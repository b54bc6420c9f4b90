package frontier

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
)

// A Base resolves the links of one page to canonical URLs. Several goroutines may use it.
type Base struct {
	page   string // canonical URL of the page; the links "" and "#top" lead to this URL
	scheme string // scheme of page with its colon: "https:"
	origin string // scheme, host and port of page: "https://example.com:8080"
	path   string // path of page, without its query
	dir    string // path up to and including its last slash

	charset encoding.Encoding // encoding of the queries of links; nil means UTF-8
}

// NewBase returns the base of the page at pageURL. baseHref is the href of its first <base>
// element, or "" if it has none. As in a browser, baseHref may be relative, and is ignored if it is
// not a URL (HTML Standard 4.2.3). Unlike in a browser, it is also ignored if its scheme is not
// http or https, because a page saved to disk may have a base with the scheme file:. charset is the
// encoding of the page, such as "gbk"; "" means UTF-8. The errors are those of [Canonical] for
// pageURL.
func NewBase(pageURL, baseHref, charset string) (*Base, error) {
	page, err := Canonical(pageURL)
	if err != nil {
		return nil, fmt.Errorf("parse the base URL of links: %w", err)
	}
	b := newBase(page)
	b.charset = queryEncoding(charset)
	if baseHref == "" {
		return b, nil
	}
	other, err := b.Resolve(baseHref)
	if err != nil {
		return b, nil
	}
	base := newBase(other)
	base.charset = b.charset
	return base, nil
}

func newBase(page string) *Base {
	b := &Base{page: page}
	host := strings.Index(page, "://") + len("://")
	b.scheme = page[:host-len("//")]
	b.origin = page[:host+hostLen(page[host:])]
	b.path, _, _ = strings.Cut(page, "?")
	b.dir = b.path[:strings.LastIndexByte(b.path, '/')+1]
	return b
}

// Resolve returns the canonical URL that a link of the page leads to. href is the attribute's
// value, with character references decoded. Its fragment is dropped, so "" and "#top" are the page
// itself. The errors are those of [Canonical]. The result may share memory with href or with the
// page's URL.
func (b *Base) Resolve(href string) (string, error) {
	if len(href) > MaxURL {
		return "", tooLong(href)
	}
	if len(href) <= maxPlain {
		if u, ok := b.resolvePlain(href); ok {
			return u, nil
		}
	}
	return b.resolveParsed(href)
}

// Resolve returns the canonical URL that a link of the page at pageURL leads to. The page has no <base>;
// see [NewBase] and [Base.Resolve].
func Resolve(pageURL, href string) (string, error) {
	base, err := NewBase(pageURL, "", "")
	if err != nil {
		return "", err
	}
	return base.Resolve(href)
}

// Absolute resolves a URL and keeps its fragment. It returns href unchanged if href cannot be
// resolved or is not an http URL.
func (b *Base) Absolute(href string) string {
	ref, fragment, found := strings.Cut(href, "#")
	url, err := b.Resolve(ref)
	if err != nil {
		return href
	}
	if found {
		url += "#" + fragment
	}
	return url
}

// resolveParsed does the work of [Base.Resolve] with the full parser of the URL Standard. Resolve
// calls it for links that resolvePlain cannot handle.
//
// The parser would take 2 ms for each link of a page five hundred folders deep, and a page may have
// very many links. But a link goes up at most as many folders as it has slashes. So the folders
// above those are left out before parsing, and prepended to the result.
func (b *Base) resolveParsed(href string) (string, error) {
	ref := b.encodeQuery(escapeBytes(stripBlanks(href)))
	if s := scheme(ref); s != "" && !isWeb(s) {
		return "", otherScheme(href, s)
	}
	if err := checkBounds(href, ref); err != nil {
		return "", err
	}
	front, rest := b.split(ref)
	switch {
	case rest == "" || rest[0] == '#':
		return b.page, nil
	case front == "" || front == b.origin:
		return parsed(href, front+rest)
	}
	head := front
	if front == b.dir {
		head = b.above(front, strings.Count(rest, "/")+strings.Count(rest, `\`)+1)
	}
	s, err := parsed(href, b.origin+"/"+front[len(head):]+rest)
	if err != nil {
		return "", err
	}
	s = head + s[len(b.origin)+len("/"):]
	return s, checkBounds(href, s)
}

// split divides a link, without blanks around it, by the rules of the URL Standard, relative state.
// The link leads to front+rest, where front is the beginning of the page's canonical URL. It is ""
// if rest is an absolute URL. If rest is empty or only a fragment, the link leads to the page.
func (b *Base) split(ref string) (front, rest string) {
	rest = ref
	s := scheme(ref)
	if s != "" {
		rest = ref[len(s)+1:]
	}
	slashes := len(rest) - len(strings.TrimLeft(rest, `/\`))
	switch {
	case s != "" && (slashes >= 2 || s != b.scheme[:len(b.scheme)-1]):
		return "", ref
	case slashes >= 2:
		return "", b.scheme + ref
	case slashes == 1:
		return b.origin, rest
	case strings.HasPrefix(rest, "?"):
		return b.path, rest
	}
	return b.dir, rest
}

// above returns the folder n levels above dir, or the root.
func (b *Base) above(dir string, n int) string {
	for ; n > 0 && len(dir) > len(b.origin)+len("/"); n-- {
		dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
	}
	return dir
}

// resolvePlain resolves a plain link without the full parser; see plain.go. If ok is false, the
// full parser must be used, which also finds errors.
func (b *Base) resolvePlain(href string) (u string, ok bool) {
	href = withoutFragment(href)
	if path, found := strings.CutPrefix(href, b.origin); found && strings.HasPrefix(path, "/") {
		return withPlainPath(href, len(b.origin)) // most absolute links; the origin is canonical, even if it is not plain
	}
	front, rest := b.split(href)
	switch {
	case front == "":
		return canonicalPlain(rest)
	case rest == "":
		return b.page, true
	case front == b.dir:
		front, rest = b.climb(rest)
	}
	if !plainPath(rest) {
		return "", false
	}
	u = front + rest
	return u, len(u) <= maxPlain || checkBounds(u, u) == nil
}

// climb removes segments "." and ".." from the beginning of href, a relative path. It returns the
// folder they lead to, and the rest of href. It leaves such segments in the rest to the full
// parser.
func (b *Base) climb(href string) (dir, rest string) {
	dir = b.dir
	for {
		if rest, ok := strings.CutPrefix(href, "./"); ok {
			href = rest
			continue
		}
		rest, ok := strings.CutPrefix(href, "../")
		if !ok {
			return dir, href
		}
		href, dir = rest, b.above(dir, 1)
	}
}
