package ingest

import (
	"bytes"
	"context"
	"errors"

	"skink/crawler"
	"skink/document"
	"skink/extract"
	"skink/internal/memory"
)

// # Memory for reading a page
//
// The total memory for pages being read at the same time is limited, because a single page of 10 MB
// may need several hundred MB. A worker acquires a share of this memory before it reads a page. It
// acquires the whole share at once, so while it waits it holds nothing that another worker needs.
// The page's size determines the upper bound of the share: [extract.Options] bounds the tree, and
// the rest is a fixed number of bytes for each byte of text. On pages of up to 10 MB, the measured
// peak of the heap was 1.9 times the size of the tree, plus some bytes for each byte of text: 9 in
// prose, 16 in listings, and 20 in a text of one-letter words.
//
// The tree of an ordinary page is much smaller than the bound. It takes about 10 bytes for each
// byte of the page. So a page is first read with a share for such a tree. If its tree outgrows the
// share, the worker releases it, acquires the largest share, and reads the page again.

const (
	lightTree  = 8 << 20 // a light tree has at most this many bytes, plus lightAByte for each byte of the page; most trees are light
	lightAByte = 16

	treeCost = 2.2 // bytes of memory per byte of a tree, including the tree itself
	textCost = 21  // bytes of memory per byte of a page

	markdownCost = 8 // additional bytes per byte of a page whose Markdown is kept: for writing it, and for the copy that is compressed with the text
)

// most returns the maximum size, in bytes, of the parsed tree of a page that is size bytes long.
func most(size int) int64 { return min(extract.MaxTree, 8<<20+64*int64(size)) }

// light returns the number of bytes of memory to reserve for the tree when a page of size bytes is
// first read.
func light(size int) int64 { return min(lightTree+lightAByte*int64(size), most(size)) }

func costOf(size int, tree int64) int64 { return int64(treeCost*float64(tree)) + textCost*int64(size) }

// The memory needed to read a document depends little on the size of its file.
func documentCost(documents *document.Reader, body []byte) int64 {
	return documents.Cost(body) + int64(len(body)) + textCost*int64(document.MaxText(len(body)))
}

var errOutgrown = errors.New("the HTML tree of the page is larger than expected")

// readWithin reserves memory for reading a page, waiting until enough is free, and reads the page.
// The caller must release the returned share.
func (r *reader) readWithin(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (*reading, *memory.Share, error) {
	defer r.flight.end(page.Item.URL)
	body, _ := page.Document()
	size := len(body)
	if r.opt.isDocument(page) {
		// Wait here, not in the document reader, where the document would already have reserved
		// memory that pages need.
		if err := send(ctx, r.documents, struct{}{}); err != nil {
			return nil, nil, err
		}
		defer func() { <-r.documents }()
		return r.readIn(ctx, page, leads, most(size))
	}
	first := light(size)
	if hugeTag(body) {
		first = most(size)
	}
	got, share, err := r.readIn(ctx, page, leads, first)
	if errors.Is(err, errOutgrown) {
		share.Release()
		return r.readIn(ctx, page, leads, most(size))
	}
	return got, share, err
}

// hugeTag reports whether a page has a tag of a megabyte or more. The attributes of such a tag may
// make the tree much larger than a light tree, so the largest share of memory is reserved.
func hugeTag(body []byte) bool {
	const huge = 1 << 20
	for len(body) >= huge {
		begin := bytes.IndexByte(body, '<')
		if begin < 0 {
			return false
		}
		body = body[begin:]
		end := bytes.IndexByte(body, '>')
		if end < 0 {
			end = len(body)
		}
		if end >= huge {
			return true
		}
		body = body[end:]
	}
	return false
}

func (r *reader) readIn(ctx context.Context, page *crawler.Page, leads *crawler.Leads, tree int64) (got *reading, share *memory.Share, err error) {
	if share, err = r.memory.Take(ctx, r.need(page, tree)); err != nil {
		return nil, nil, err
	}
	if err := r.flight.begin(ctx, page.Item.URL); err != nil {
		return nil, share, err
	}
	err = guard(func() (err error) {
		got, err = r.opt.read(ctx, page, leads, tree)
		return err
	})
	return got, share, err
}

// weighs returns the approximate number of bytes of memory that the result of reading a page takes until
// it is stored, not counting the body of the page.
func (got *reading) weighs() int64 {
	const link = 200
	return int64(len(got.text) + len(got.out) + 8*(len(got.shingles.list)+len(got.shingles.set)) + link*(len(got.links)+len(got.beyond)))
}
