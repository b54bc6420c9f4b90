package ingest

import (
	"bytes"
	"context"
	"errors"
	"math/bits"
	"sync"

	"skink/crawler"
	"skink/document"
	"skink/extract"
	"skink/internal/memory"
)

// # Memory for reading a page
//
// Sixteen pages of 10 MB that are read at once must not take sixteen times the memory of one. So a
// worker acquires its share of memory before it reads a page. It acquires the whole share at once,
// so while it waits it holds nothing that another worker needs. The page's size gives the upper
// bound of the share: [extract.Options] bounds the tree, and the rest is a fixed number of bytes
// for each byte of text. Measured heap peaks on pages of up to 10 MB are 1.9 times the tree; 9
// bytes for a byte of prose, 16 for cards of a listing, 20 for words of one letter.
//
// A tree is seldom as large as its bound: that of an honest page takes some 10 bytes for each byte
// of the page. So a page is first read with a share for such a tree. If its tree outgrows the
// share, the worker releases it, acquires the largest share, and reads the page again. The pipeline
// learns for which page sizes that happens often. Pages of these sizes start with the largest
// share.

const (
	lightTree  = 8 << 20 // plus lightAByte for each byte of a page: few trees need more
	lightAByte = 16

	treeCost = 2.2 // bytes of memory for a byte of a tree, the tree included
	textCost = 21  // bytes for a byte of a page

	markdownCost = 8 // bytes for a byte of a page whose Markdown is kept: while it is written, and again with the text before both are compressed

	learnedIn = 32 // number of pages of a size in the moving average
	often     = 0.125
)

// A costs learns how much memory pages need, by their size.
type costs struct {
	mu    sync.Mutex
	heavy [65]float64 // guarded by mu: by the bits of a page's size: the share of pages that outgrew a light tree
}

// most returns the bound in bytes of the tree of a page of size bytes.
func most(size int) int64 { return min(extract.MaxTree, 8<<20+64*int64(size)) }

// tree returns the share in bytes for the tree with which a page of size bytes is first read.
func (c *costs) tree(size int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heavy[bits.Len(uint(size))] > often {
		return most(size)
	}
	return min(lightTree+lightAByte*int64(size), most(size))
}

// learn records whether a page of size bytes outgrew a light tree.
func (c *costs) learn(size int, outgrown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := 0.0
	if outgrown {
		now = 1
	}
	h := &c.heavy[bits.Len(uint(size))]
	*h += (now - *h) / learnedIn
}

// costOf returns the bytes of memory that it takes to read size bytes of a page into a tree of at
// most tree bytes.
func costOf(size int, tree int64) int64 { return int64(treeCost*float64(tree)) + textCost*int64(size) }

// documentCost returns the bytes of memory that it takes to read a document, its text included. The
// size of its file says little about that.
func documentCost(documents *document.Reader, body []byte) int64 {
	return documents.Cost(body) + int64(len(body)) + textCost*int64(document.MostText(len(body)))
}

// errOutgrown means that the page needs a larger share for its tree.
var errOutgrown = errors.New("the tree is larger than was expected")

// readWithin reads a page within a share of memory, which it returns.
func (r *reader) readWithin(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (*reading, *memory.Share, error) {
	defer r.flight.end(page.Item.URL)
	body, _ := page.Document()
	size := len(body)
	if r.opt.isDocument(page) {
		// It waits here, and not in the reader of documents, because there it would hold memory
		// that pages need.
		if err := send(ctx, r.documents, struct{}{}); err != nil {
			return nil, nil, err
		}
		defer func() { <-r.documents }()
		return r.readIn(ctx, page, leads, most(size))
	}
	first := r.costs.tree(size)
	if hugeTag(body) {
		first = most(size)
	}
	got, share, err := r.readIn(ctx, page, leads, first)
	outgrown := errors.Is(err, errOutgrown)
	if first < most(size) {
		r.costs.learn(size, outgrown)
	}
	if outgrown {
		share.Release()
		return r.readIn(ctx, page, leads, most(size))
	}
	return got, share, err
}

// hugeTag reports whether a page has a tag so long that its attributes alone may outgrow a light
// tree. Such a page starts with the largest share.
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

// weighs returns the bytes of memory that a reading keeps until it is stored, without the body.
func (got *reading) weighs() int64 {
	n := len(got.text) + len(got.out) + 8*(len(got.shingles.list)+len(got.shingles.set))
	const item = 100 // of a list of links, without its URL
	for _, l := range got.links {
		n += len(l.URL) + item
	}
	for _, url := range got.beyond {
		n += len(url) + item
	}
	return int64(n)
}
