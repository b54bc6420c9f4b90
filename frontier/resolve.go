package frontier

import (
	"fmt"
	"strings"
	"sync"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// A Base resolves the links of one page to canonical URLs. Several goroutines may use it.
type Base struct {
	page   string // canonical URL of the page; the links "" and "#top" lead to this URL
	scheme string // scheme of page with its colon: "https:"
	origin string // scheme, host and port of page: "https://example.com:8080"
	path   string // path of page, without its query
	dir    string // path up to and including its last slash
	shown  string // origin as passed to the parser; see hideHost

	parse func() (*whatwg.Url, error) // parses page once, when a link first needs it
}

// NewBase returns the base of the page at pageURL. baseHref is the href of its first <base>
// element, or "" if it has none. As in a browser, baseHref may be relative, and is ignored if it is
// not a URL (HTML Standard 4.2.3). Unlike in a browser, it is also ignored if its scheme is not
// http or https, because a page saved to disk may have a base with the scheme file:. The errors are
// those of [Canonical] for pageURL.
func NewBase(pageURL, baseHref string) (*Base, error) {
	page, err := Canonical(pageURL)
	if err != nil {
		return nil, fmt.Errorf("parse the base URL of links: %w", err)
	}
	b := newBase(page)
	if baseHref == "" {
		return b, nil
	}
	other, err := b.Resolve(baseHref)
	if err != nil {
		return b, nil
	}
	return newBase(other), nil
}

func newBase(page string) *Base {
	b := &Base{page: page}
	host := strings.Index(page, "://") + len("://")
	b.scheme = page[:host-len("//")]
	b.origin = page[:host+hostLen(page[host:])]
	b.shown = b.origin
	if hidden, _, ok := hideHost(b.origin); ok {
		b.shown = hidden
	}
	b.path, _, _ = strings.Cut(page, "?")
	b.dir = b.path[:strings.LastIndexByte(b.path, '/')+1]
	b.parse = sync.OnceValues(func() (*whatwg.Url, error) {
		u, err := parser.Parse(b.shown + page[len(b.origin):])
		if err != nil {
			return nil, err
		}
		u.SearchParams() // the first call changes u; later calls only read u, so several goroutines may make them
		return u, nil
	})
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
func (b *Base) resolveParsed(href string) (string, error) {
	ref := stripBlanks(href)
	if s := scheme(ref); s != "" && !isWeb(s) {
		return "", otherScheme(href, s)
	}
	if err := checkBounds(href, ref); err != nil {
		return "", err
	}
	return b.hiding(href, ref, b.resolveShown)
}

// hiding calls resolve with ref, a relative reference without blanks. If the library would refuse
// the host of the link, or of the page, hiding replaces the host before the call and puts it back
// afterwards; see hideHost.
func (b *Base) hiding(href, ref string, resolve func(href, ref string) (string, error)) (string, error) {
	absolute, own := b.withHost(ref)
	if own {
		if _, _, ok := hideHost(absolute); ok {
			return canonicalParsed(absolute)
		}
	}
	u, err := resolve(href, ref)
	if err != nil || own || b.shown == b.origin {
		return u, err
	}
	u = b.origin + strings.TrimPrefix(u, b.shown)
	return u, checkBounds(href, u)
}

// withHost returns ref as an absolute URL if ref contains a host, as in "//example.com/a".
// Otherwise ok is false. ref must not contain blanks.
func (b *Base) withHost(ref string) (absolute string, ok bool) {
	s, rest := scheme(ref), ref
	if s != "" {
		rest = ref[len(s)+1:]
	}
	slashes := len(rest) - len(strings.TrimLeft(rest, `/\`))
	switch {
	case s == "":
		return b.scheme + ref, slashes >= 2
	default:
		return ref, slashes >= 2 || s+":" != b.scheme
	}
}

// resolveShown resolves ref, a relative reference without blanks, against the page's URL, whose
// host may have been replaced with standIn. href is for error messages.
func (b *Base) resolveShown(href, ref string) (string, error) {
	if len(b.dir) > maxPlain {
		if local := b.local(ref); local != "" {
			return b.resolveShallow(href, ref, local)
		}
	}
	return b.resolveDeep(href, ref)
}

// resolveDeep resolves ref, a relative reference without blanks, against the page's whole URL. href
// is for error messages.
func (b *Base) resolveDeep(href, ref string) (string, error) {
	page, err := b.parse()
	if err != nil {
		return "", invalid(b.page, err)
	}
	u, err := page.Parse(ref)
	if err != nil {
		return "", invalid(href, err)
	}
	return serialize(href, u)
}

// resolveShallow resolves a reference without blanks for a page whose path is long. The parser
// would take 2 ms for each link of a page five hundred folders deep, and a page may have very many
// links. But a link goes up at most as many folders as it has slashes. So the folders above those
// are left out before parsing, and prepended to the result.
func (b *Base) resolveShallow(href, ref, local string) (string, error) {
	root := b.origin + "/"
	head, tail := root, "" // the folder of the page is split: head is prepended to the result, and ref is resolved against tail
	switch local[0] {
	case '/', '\\': // the path of the page does not matter
	case '?':
		head = b.path
	default:
		head = b.dir
		for n := strings.Count(local, "/") + strings.Count(local, `\`) + 1; n > 0 && len(head) > len(root); n-- {
			head = head[:strings.LastIndexByte(head[:len(head)-1], '/')+1]
		}
		tail = b.dir[len(head):]
	}
	near, err := parser.Parse(b.shown + "/" + tail)
	if err != nil {
		return "", invalid(b.page, err)
	}
	u, err := near.Parse(ref)
	if err != nil {
		return "", invalid(href, err)
	}
	s, err := serialize(href, u)
	if err != nil || head == root {
		return s, err
	}
	s = b.shown + head[len(b.origin):] + s[len(b.shown)+len("/"):]
	return s, checkBounds(href, s)
}

// local returns ref without its scheme if that is the page's scheme. It returns "/" if ref cannot
// be relative to the page's path, because it is an absolute URL. It returns "" if ref leads to the
// page itself, or if this is hard to decide. ref must not contain blanks.
func (b *Base) local(ref string) string {
	switch s := scheme(ref); {
	case s == "":
	case s+":" != b.scheme:
		return "/"
	default:
		ref = ref[len(s)+1:]
	}
	if ref == "" || ref[0] == '#' || scheme(ref) != "" {
		return ""
	}
	return ref
}

// resolvePlain resolves a plain link without the full parser; see plain.go. If ok is false, the
// full parser must be used, which also finds errors.
func (b *Base) resolvePlain(href string) (u string, ok bool) {
	href = withoutFragment(href)
	switch {
	case href == "":
		return b.page, true
	case href[0] == '?':
		return join(b.path, href)
	case strings.HasPrefix(href, "//"):
		return canonicalPlain(b.scheme + href)
	case href[0] == '/':
		return join(b.origin, href)
	case hasColonFirst(href):
		return b.absolutePlain(href)
	}
	dir, rest := b.climb(href)
	return join(dir, rest)
}

// join appends path, a path or query, to front, the beginning of a canonical URL. ok is false if
// the full parser must be used.
func join(front, path string) (u string, ok bool) {
	if !plainPath(path) {
		return "", false
	}
	u = front + path
	if len(u) > maxPlain && checkBounds(u, u) != nil {
		return "", false
	}
	return u, true
}

// absolutePlain resolves an absolute URL without the full parser. It treats the page's own scheme
// and host as plain, because they are already canonical, and most absolute links have them.
func (b *Base) absolutePlain(href string) (u string, ok bool) {
	if rest, found := strings.CutPrefix(href, b.origin); found && rest != "" && rest[0] == '/' {
		return withPlainPath(href, len(b.origin))
	}
	return canonicalPlain(href)
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
		href = rest
		if len(dir) > len(b.origin)+len("/") {
			dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
		}
	}
}

// hasColonFirst reports whether the first path segment of href contains a colon. The text before
// the colon may then be a scheme.
func hasColonFirst(href string) bool {
	for i := range len(href) {
		switch href[i] {
		case ':':
			return true
		case '/', '?':
			return false
		}
	}
	return false
}
