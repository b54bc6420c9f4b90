package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"skink/base/field"
)

// A Link is an address in a page: a page to visit, or a file that is part of the page.
type Link struct {
	URL      string   `json:"url"`            // canonical form, without the fragment
	Text     string   `json:"text,omitempty"` // different texts of the page's links to URL, one a line, each at most 100 bytes; for an image, its alternative text
	Kind     LinkKind `json:"kind"`
	NoFollow bool     `json:"nofollow,omitempty"` // the link or its page asks crawlers not to follow it

	Fragments string `json:"fragments,omitempty"` // fragments in the page's links to URL, separated by line feeds; kept only by a crawl for an audit
}

// Said returns the texts of the link on one line, separated by semicolons.
func (l Link) Said() string { return strings.ReplaceAll(l.Text, "\n", "; ") }

// A LinkKind is the kind of element that contains an address.
type LinkKind string

const (
	LinkAnchor    LinkKind = "link"      // <a>, <area>
	LinkFrame     LinkKind = "frame"     // <iframe>, <frame>
	LinkRefresh   LinkKind = "refresh"   // <meta http-equiv=refresh>
	LinkNeighbour LinkKind = "neighbour" // rel=prev or rel=next, if the page has no other link to that URL
	LinkAlternate LinkKind = "alternate" // rel=alternate: a version of the page in another language or form, if the page has no other link to that URL

	LinkImage  LinkKind = "image"  // <img>, the poster of a video, or an icon
	LinkScript LinkKind = "script" // <script src>
	LinkStyle  LinkKind = "style"  // <link rel=stylesheet>, or a file that a style in the page refers to
	LinkMedia  LinkKind = "media"  // <video>, <audio>, their <source> and <track>, <object>, <embed>

	LinkListed LinkKind = "listed" // entry of a sitemap
)

// linkKinds lists the kinds by their numbers in packed links. The numbers are stored, so a new kind
// must be added at the end.
var linkKinds = []LinkKind{
	LinkAnchor, LinkFrame, LinkRefresh, LinkNeighbour, LinkAlternate, LinkImage, LinkScript, LinkStyle, LinkMedia,
	LinkListed,
}

// Asset reports whether links of this kind refer to files that are part of the page. A browser
// fetches them to show the page; a crawl does not.
func (k LinkKind) Asset() bool {
	switch k {
	case LinkImage, LinkScript, LinkStyle, LinkMedia:
		return true
	}
	return false
}

// # Packed links
//
// The links of a page are in document order, so the URLs of most links share a prefix with the
// previous link, or with the page. Each URL is stored as the length of that prefix, and the rest. A
// link has these fields, without a separator:
//
//	kind       the number of its kind, plus 16 if it must not be followed, plus 32 if it has
//	           fragments, plus 64 if the prefix is from the page's URL (1 byte)
//	prefix     the length of the shared prefix
//	URL        the rest, after its length
//	text       the text, after its length
//	fragments  if there are any, after their length
//
// Numbers are unsigned varints as in encoding/binary. A list of more than shortList bytes is
// compressed with zstd, and a shorter one with S2. Most lists are a few hundred bytes long. Zstd
// builds tables for each list, which took 2% of a crawl's CPU time; S2 builds none.
const (
	packedKind     = 1<<4 - 1
	packedNoFollow = 1 << 4
	packedParts    = 1 << 5
	packedByPage   = 1 << 6

	shortList = 4 << 10 // in bytes; for longer lists, zstd saves more, and the time to build its tables matters less
)

// PackLinks encodes the links of the page at pageURL for an [Entry]. It keeps link texts in full,
// even beyond 100 bytes. It panics if a link's kind is not one of the LinkKind constants.
func PackLinks(pageURL string, links []Link) []byte {
	b := make([]byte, 0, 48*len(links))
	before := ""
	for i := range links {
		l := &links[i]
		kind := slices.Index(linkKinds, l.Kind)
		if kind < 0 {
			panic(fmt.Sprintf("link of kind %q", l.Kind))
		}
		share := common(l.URL, before)
		if n := common(l.URL, pageURL); n > share {
			share, kind = n, kind|packedByPage
		}
		if l.NoFollow {
			kind |= packedNoFollow
		}
		if l.Fragments != "" {
			kind |= packedParts
		}
		b = binary.AppendUvarint(append(b, byte(kind)), uint64(share))
		b = appendText(appendText(b, l.URL[share:]), l.Text)
		if l.Fragments != "" {
			b = appendText(b, l.Fragments)
		}
		before = l.URL
	}
	if len(b) > shortList {
		return compress(b)
	}
	return compressFast(b)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func common(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && a[i:i+8] == b[i:i+8] {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// UnpackLinks is the inverse of [PackLinks]. It returns nil if the page has no links, and
// [ErrCorrupt] if packed is not the output of PackLinks.
func UnpackLinks(pageURL string, packed []byte) (links []Link, err error) {
	b, err := decompress(packed, shortList)
	if err != nil {
		return nil, fmt.Errorf("unpack links: %w", err)
	}
	before := ""
	for d := (field.Reader{Rest: b}); len(d.Rest) > 0; {
		flags, share := d.Byte(), d.Varint()
		from, kind := before, int(flags&packedKind)
		if flags&packedByPage != 0 {
			from = pageURL
		}
		rest, text := d.Bytes(d.Varint()), d.Bytes(d.Varint())
		var fragments []byte
		if flags&packedParts != 0 {
			fragments = d.Bytes(d.Varint())
		}
		if d.Bad || share > uint64(len(from)) || kind >= len(linkKinds) {
			return nil, fmt.Errorf("%w: the links cannot be decoded", ErrCorrupt)
		}
		before = from[:share] + string(rest)
		links = append(links, Link{URL: before, Text: string(text), Kind: linkKinds[kind], NoFollow: flags&packedNoFollow != 0, Fragments: string(fragments)})
	}
	return links, nil
}

// HostOf returns the authority of an http or https URL, by which reports count pages. It returns ""
// for any other string, such as a file path. HostOf does not use net/url, which rejects URLs with
// an invalid "%" escape. Such URLs exist on the web, and their host is unambiguous.
func HostOf(rawURL string) string {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	if scheme != "http" && scheme != "https" {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#\\ "); end >= 0 { // also at a space: if two texts have the same URL, skink dedup names the second one "URL source"
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}
