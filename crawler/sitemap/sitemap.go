// Package sitemap parses the lists of pages that sites give to crawlers: sitemaps and their index
// files (sitemaps.org), lists of URLs as plain text, and RSS and Atom feeds. Each may be compressed
// with gzip.
//
// [Read] yields the entries of a file while it reads the file:
//
//	for entry, err := range sitemap.Read(body) {
//		if err != nil {
//			// errors.Is(err, sitemap.ErrEntries): the list is too long to be read to its end
//			break
//		}
//		fmt.Println(entry.URL, entry.Index)
//	}
//
// The bytes of a file determine its type: the magic number of gzip, a byte order mark, the first
// character that is not a space, the first element. The name of the file and its Content-Type are
// ignored, because both are often wrong.
//
// A file is never held in memory as a whole. [MaxBytes], [MaxEntries], [MaxToken] and [MaxDepth]
// bound the cost of a file, and testdata/hostile.md lists the cost of each hostile file. If a file
// exceeds a bound, Read yields the entries up to that point, and then an error that names the
// bound.
//
// The package is pure: it fetches nothing and resolves no URL. The crawler decides which sitemap
// may list which page.
package sitemap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// These are the limits for one file. MaxBytes and MaxEntries are those of the protocol
// (https://www.sitemaps.org/protocol.html).
const (
	MaxBytes   = 50 << 20 // maximum size of a file in bytes, both compressed and decompressed
	MaxEntries = 50_000   // maximum number of entries in a sitemap or an index
	MaxText    = 8 << 10  // maximum length in bytes of a URL or tag that is read; the protocol allows URLs of up to 2,048 characters
	MaxToken   = 1 << 20  // maximum length in bytes of a tag, comment or text, such as an article in a feed
	MaxDepth   = 64       // maximum depth of nested elements; a sitemap has three or four levels
)

var (
	// ErrBytes means that the file is longer than [MaxBytes].
	ErrBytes = fmt.Errorf("the sitemap is larger than %d MB: the rest was not read", MaxBytes>>20)
	// ErrEntries means that the file has more than [MaxEntries] entries.
	ErrEntries = fmt.Errorf("the sitemap has more than %d URLs: the rest was not read", MaxEntries)
	// ErrToken means that the file has a tag, comment or text of more than [MaxToken] bytes.
	ErrToken = fmt.Errorf("a tag, comment or text is longer than %d MB: the rest was not read", MaxToken>>20)
	// ErrDepth means that the file nests its elements deeper than [MaxDepth].
	ErrDepth = fmt.Errorf("elements are nested more than %d levels deep: the rest was not read", MaxDepth)
	// ErrNone means that the file is not one of the supported lists but, for example, a web page.
	ErrNone = errors.New("not a sitemap")
)

// An Entry is one item of a list.
type Entry struct {
	URL   string // URL as written, without surrounding spaces; it may be relative, or not a URL at all
	Index bool   // the URL is that of another list, not of a page
}

// Read yields the entries of a file in order. The last pair contains an error if the file could not
// be read to its end. The error is one of the errors of this package, or an error from gzip or from
// r. The entries before it are valid; an entry that is cut is left out. If the file is not a list, the error wraps [ErrNone].
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return readUpTo(r, MaxBytes)
}

// readUpTo is Read with a different size limit, in bytes.
func readUpTo(r io.Reader, limit int64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		left := MaxEntries
		stopped := false
		err := read(r, limit, func(e Entry) error {
			if left == 0 {
				return ErrEntries
			}
			left--
			if !yield(e, nil) {
				stopped = true
				return io.EOF
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Entry{}, err)
		}
	}
}

func read(r io.Reader, limit int64, emit func(Entry) error) error {
	first := byte(0)
	in, err := decode(r, limit)
	if err == nil {
		first, err = firstByte(in)
	}
	switch {
	case err == io.EOF:
		return fmt.Errorf("the file is empty: %w", ErrNone)
	case err != nil:
		return err
	case first == '<':
		return readXML(in, emit)
	}
	return readText(in, emit)
}

// Begins reports whether a file begins like a sitemap or a sitemap index. It returns false for a
// feed or a plain-text list, which may also be a page of the site.
func Begins(file []byte) bool {
	l := listOf(file)
	return l != nil && !l.isFeed()
}

// Feed returns the URLs of the entries of an RSS or Atom feed, up to the first fault in the file. It
// returns false if the file is not a feed.
func Feed(file []byte) (urls []string, is bool) {
	if l := listOf(file); l == nil || !l.isFeed() {
		return nil, false
	}
	known := map[string]bool{"": true}
	for e := range Read(bytes.NewReader(file)) { // with an error, the URL is empty
		if !known[e.URL] {
			known[e.URL] = true
			urls = append(urls, e.URL)
		}
	}
	return urls, true
}

// listOf reads the beginning of an XML list. It returns nil for any other file.
func listOf(file []byte) *list {
	in, err := decode(bytes.NewReader(file), MaxBytes)
	if err != nil {
		return nil
	}
	if first, err := firstByte(in); err != nil || first != '<' {
		return nil
	}
	l, err := begin(newMarkup(in))
	if err != nil {
		return nil
	}
	return l
}
