package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"

	"skink/base/field"
)

// A Link is an address in a page: a page to visit, or a file that is part of the page.
type Link struct {
	URL      string   `json:"url"`            // canonical form, without the fragment
	Text     string   `json:"text,omitempty"` // anchor text on one line, at most [MaxLinkText] bytes; for an image, its alternative text
	Kind     LinkKind `json:"kind"`
	NoFollow bool     `json:"nofollow,omitempty"` // the link or its page asks crawlers not to follow it

	Fragments string `json:"fragments,omitempty"` // fragments in the page's links to URL, separated by line feeds; kept only by a crawl for an audit
}

// MaxLinkText is the maximum number of bytes to keep of a link's text. Most anchors contain only a
// few words. Longer ones are whole paragraphs or cards, and their first words identify them.
const MaxLinkText = 100

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
// previous link or with the page. Each URL is stored as the length of the longer of these prefixes,
// and the rest. The fields of all links are in columns, because similar values compress better
// together:
//
//	N        the number of links
//	N bytes  for each link the number of its kind, plus 16 if it must not be followed, plus 32 if
//	         the prefix is from the page's URL, and not from that of the link before it,
//	         plus 64 if it has fragments
//	N        for each link the length of the shared prefix
//	N        for each link the length of the rest of the URL
//	N        for each link the length of the text
//	N        for each link with fragments, the length of the fragments
//	bytes    the rest of each URL, one after another
//	bytes    the texts of all links
//	bytes    the fragments of all links
//
// Numbers are unsigned varints as in encoding/binary. A list of more than shortList bytes is
// compressed as one zstd frame, like a text. A shorter list is stored as a zero byte, which never
// begins a frame, and one S2 block. Most lists are a few hundred bytes long. Zstd builds tables for
// each list, which took 2% of a crawl's CPU time; S2 builds none. For the lists of a large manual,
// S2 needs 314 bytes per page, and zstd 275.
const (
	packedKind     = 1<<4 - 1
	packedNoFollow = 1 << 4
	packedByPage   = 1 << 5
	packedParts    = 1 << 6

	packedShort = 0       // first byte of a short list, instead of a zstd frame
	shortList   = 4 << 10 // in bytes; for longer lists, zstd saves more, and the time to build its tables matters less
)

// PackLinks encodes the links of the page at pageURL for an [Entry]. It keeps link texts in full,
// even beyond [MaxLinkText]. It panics if a link's kind is not one of the LinkKind constants.
func PackLinks(pageURL string, links []Link) []byte {
	type part struct {
		kind  byte
		share int
	}
	parts := make([]part, len(links))
	size, before := 0, ""
	for i := range links {
		l := &links[i]
		kind := slices.Index(linkKinds, l.Kind)
		if kind < 0 {
			panic(fmt.Sprintf("link of kind %q", l.Kind))
		}
		p := part{byte(kind), common(l.URL, before)}
		if n := common(l.URL, pageURL); n > p.share {
			p = part{p.kind | packedByPage, n}
		}
		if l.NoFollow {
			p.kind |= packedNoFollow
		}
		if l.Fragments != "" {
			p.kind |= packedParts
		}
		parts[i] = p
		size += len(l.URL) - p.share + len(l.Text) + len(l.Fragments)
		before = l.URL
	}
	const numbers = 8 // estimated bytes for the kind and three varints of a link
	b := make([]byte, 0, size+numbers*len(links)+binary.MaxVarintLen64)
	b = binary.AppendUvarint(b, uint64(len(links)))
	for _, p := range parts {
		b = append(b, p.kind)
	}
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(p.share))
	}
	for i, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(links[i].URL)-p.share))
	}
	for i := range links {
		b = binary.AppendUvarint(b, uint64(len(links[i].Text)))
	}
	for i := range links {
		if n := len(links[i].Fragments); n > 0 {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	for i, p := range parts {
		b = append(b, links[i].URL[p.share:]...)
	}
	for i := range links {
		b = append(b, links[i].Text...)
	}
	for i := range links {
		b = append(b, links[i].Fragments...)
	}
	return packList(b)
}

func packList(list []byte) []byte {
	if len(list) > shortList {
		return Pack(list)
	}
	packed := make([]byte, 1+s2.MaxEncodedLen(len(list)))
	packed[0] = packedShort
	return packed[:1+len(s2.Encode(packed[1:], list))]
}

// unpackList is the inverse of packList. It accepts zstd frames for lists of any length.
func unpackList(packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] != packedShort {
		return Unpack(packed)
	}
	block := packed[1:]
	switch n, err := s2.DecodedLen(block); {
	case err != nil:
		return nil, fmt.Errorf("unpack links: %w: %v", ErrCorrupt, err)
	case n > shortList:
		return nil, fmt.Errorf("unpack links: %w: a list of %d bytes is too short to be compressed", ErrCorrupt, n)
	}
	list, err := s2.Decode(nil, block)
	if err != nil {
		return nil, fmt.Errorf("unpack links: %w: %v", ErrCorrupt, err)
	}
	return list, nil
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
func UnpackLinks(pageURL string, packed []byte) ([]Link, error) {
	b, err := unpackList(packed)
	if err != nil {
		return nil, err
	}
	d := linkDecoder{field.Reader{Rest: b}}
	n := d.number()
	if n == 0 && !d.Bad {
		return nil, nil
	}
	if n > len(d.Rest)/4 { // a link takes at least four bytes
		return nil, fmt.Errorf("%w: the links cannot be decoded", ErrCorrupt)
	}
	kinds := d.Bytes(uint64(n))
	shares, lengths, texts := d.numbers(n), d.numbers(n), d.numbers(n)
	fragments := make([]int, n)
	for i, kind := range kinds {
		if kind&packedParts != 0 {
			fragments[i] = d.number()
		}
	}
	rests := d.Bytes(sum(lengths))
	words := d.Bytes(sum(texts))
	parts := d.Bytes(sum(fragments))
	if d.Bad {
		return nil, fmt.Errorf("%w: the links cannot be decoded", ErrCorrupt)
	}
	links := make([]Link, n)
	before := ""
	var url bytes.Buffer
	for i := range links {
		from := before
		if kinds[i]&packedByPage != 0 {
			from = pageURL
		}
		kind := int(kinds[i] & packedKind)
		if shares[i] > len(from) || kind >= len(linkKinds) {
			return nil, fmt.Errorf("%w: the links cannot be decoded", ErrCorrupt)
		}
		url.Reset()
		url.WriteString(from[:shares[i]])
		url.Write(rests[:lengths[i]])
		before = url.String()
		links[i] = Link{
			URL: before, Text: string(words[:texts[i]]),
			Kind: linkKinds[kind], NoFollow: kinds[i]&packedNoFollow != 0,
			Fragments: string(parts[:fragments[i]]),
		}
		parts = parts[fragments[i]:]
		rests, words = rests[lengths[i]:], words[texts[i]:]
	}
	return links, nil
}

func sum(numbers []int) (n uint64) {
	for _, v := range numbers {
		n += uint64(v)
	}
	return n
}

// A linkDecoder reads the fields of unpacked links; see the section Packed links.
type linkDecoder struct{ field.Reader }

// number reads a varint. If the value is above maxText, the decoder fails, because no link is that
// long.
func (d *linkDecoder) number() int {
	v := d.Varint()
	if v > maxText {
		d.Fail()
		return 0
	}
	return int(v)
}

func (d *linkDecoder) numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = d.number()
	}
	return all
}
