package ingest

import (
	"bytes"
	"context"
	"errors"
	"math/bits"
	"sync"

	"skink/crawler"
	"skink/extract"
)

// # What a page may cost
//
// Sixteen pages of 10 MB that are read at once must not take sixteen times what one takes. So a
// worker takes its share of memory before it reads a page, and all of it at once, so that it waits
// while it holds nothing that another worker needs. What reading costs at most is known from the
// page's size: a tree that [extract.Options] bounds, and what is made of each byte of text.
// Measured, as peaks of the heap, on pages of up to 10 MB: 1.9 times the tree; 9 bytes for a byte
// of prose, 16 for cards of a listing, 20 for words of one letter.
//
// A tree is seldom as large as it may be: that of an honest page takes some 10 bytes for each byte
// of the page. So a page is first read with a share for such a tree. If its tree outgrows that, the
// page gives the share back, takes the largest, and is read again. The pipeline learns at which
// sizes of pages that happens often. Pages of these sizes begin with the largest share.

const (
	lightTree  = 8 << 20 // plus lightAByte for each byte of a page: few trees need more, and few estimates of a tree say more
	lightAByte = 16

	treeCost = 2.2 // bytes of memory for a byte of a tree, the tree included
	textCost = 21  // bytes for a byte of a page

	markdownCost = 8 // bytes for a byte of a page whose Markdown is kept: as it is written, and again beside the text before both are packed

	learnedIn = 32 // so many pages of a size make up the moving average
	often     = 0.125
)

// A costs learns what pages cost, by their size.
type costs struct {
	mu    sync.Mutex
	heavy [65]float64 // guarded by mu: by the bits of a page's size: the share of pages that outgrew a light tree
}

// most is the largest tree, in bytes, that a page of size bytes may become.
func most(size int) int64 { return min(extract.MaxTree, 8<<20+64*int64(size)) }

// tree is the share for a tree, in bytes, with which a page of size bytes is first read.
func (c *costs) tree(size int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heavy[bits.Len(uint(size))] > often {
		return most(size)
	}
	return min(lightTree+lightAByte*int64(size), most(size))
}

// learn notes whether a page of size bytes outgrew a light tree.
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

// costOf is how many bytes of memory it takes to read size bytes of a page into a tree of at most
// tree bytes.
func costOf(size int, tree int64) int64 { return int64(treeCost*float64(tree)) + textCost*int64(size) }

// errOutgrown: the page needs a larger tree, and may have one.
var errOutgrown = errors.New("the tree is larger than was expected")

// readWithin reads a page within its share of memory, which it leaves with the subject.
func (p *Pipeline) readWithin(ctx context.Context, s *subject, page *crawler.Page, leads *crawler.Leads) error {
	defer p.flight.end(page.Item.URL)
	size := len(page.Body)
	first := p.costs.tree(size)
	if hugeTag(page.Body) {
		first = most(size)
	}
	err := p.readIn(ctx, s, page, leads, first)
	outgrown := errors.Is(err, errOutgrown)
	if first < most(size) {
		p.costs.learn(size, outgrown)
	}
	if outgrown {
		s.share.Release()
		err = p.readIn(ctx, s, page, leads, most(size))
	}
	return err
}

// hugeTag says whether a page has a tag so long that its attributes alone may outgrow a light tree.
// Such a page is not tried with one.
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

func (p *Pipeline) readIn(ctx context.Context, s *subject, page *crawler.Page, leads *crawler.Leads, tree int64) (err error) {
	if s.share, err = p.reading.Take(ctx, p.need(page, tree)); err != nil {
		return err
	}
	if err := p.flight.begin(ctx, page.Item.URL); err != nil {
		return err
	}
	return guard(func() error { return p.read(s, page, leads, tree) })
}

// weighs is how many bytes a subject keeps until it is stored, without the body.
func (s *subject) weighs() int64 {
	n := len(s.text) + len(s.out) + 8*(len(s.shingles)+len(s.set))
	const item = 100 // of a list of links, without its URL
	for _, l := range s.links {
		n += len(l.URL) + item
	}
	for _, url := range s.beyond {
		n += len(url) + item
	}
	return int64(n)
}
