package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// # A web with known duplicates
//
// All pages are numbered in one sequence across the hosts. Pages with the same story form a group.
// The pages of a group are chosen at random, so they can be on any hosts. There are four forms of
// groups. In whatever order a crawl fetches the pages, it must count the same verdicts:
//
//   - alone: a single page, which is unique;
//   - exact: several pages with the same story; the first is unique and all others are exact;
//   - near: several pages with the same story, and a different word changed in each. Any two of
//     them have a resemblance of 0.93, so the first is unique and all others are near;
//   - thin: stories of twenty words, on one page or on several.
//
// No two stories have ten consecutive words in common, so pages of different groups do not resemble
// each other. With 84 minima in 14 bands of 6, a pair with a resemblance of 0.93 is missed about
// once in three million cases.
//
// Every page can be reached from the first: the pages of a host are linked as a binary tree, and so
// are the hosts. There are also links to random pages, some of them with equivalent spellings of
// the address. Other links lead to addresses without a page: missing, redirected, forbidden, not
// text, or with a response that is cut off. Some pages respond to the first request with 503.

type options struct {
	hosts, pages int
	seed         uint64
	port         int
	round        int // number of rounds of changes so far; see rounds.go
}

type web struct {
	options
	first  []int // number of the first page of each host; the last element is the total number of pages
	pages  []page
	groups int
}

// A page holds the properties of a page that cannot be computed from its number.
type page struct {
	host  int
	group int
	form  form
	copy  int // number of the page within its group, from 0
}

type form uint8

const (
	alone form = iota
	exact
	near
	thin
	thinCopy
)

func newWeb(opt options) *web {
	w := &web{options: opt, pages: make([]page, opt.pages)}
	w.divide()
	w.group()
	return w
}

// divide assigns pages to the hosts: few hosts have many pages, and most have few, as on the real
// web.
func (w *web) divide() {
	left := w.options.pages - w.hosts
	w.first = make([]int, 1, w.hosts+1)
	for h := range w.hosts {
		more := left / 20 // the largest host has a twentieth of all pages, and each subsequent host a twentieth of the rest
		if h == w.hosts-1 {
			more = left
		} else if even := left / (w.hosts - h); more < even {
			more = even
		}
		left -= more
		end := w.first[h] + 1 + more
		for n := w.first[h]; n < end; n++ {
			w.pages[n].host = h
		}
		w.first = append(w.first, end)
	}
}

// group randomly divides the pages into groups that share a story.
func (w *web) group() {
	rng := rand.New(rand.NewPCG(w.seed, 1))
	deck := rng.Perm(len(w.pages))
	for len(deck) > 0 {
		f, size := alone, 1
		switch p := rng.IntN(100); {
		case p < 10:
			f, size = exact, 2+rng.IntN(4)
		case p < 20:
			f, size = near, 2+rng.IntN(3)
		case p < 26:
			f = thin
		case p < 28:
			f, size = thinCopy, 2+rng.IntN(2)
		}
		size = min(size, len(deck))
		for i, n := range deck[:size] {
			w.pages[n].group, w.pages[n].form, w.pages[n].copy = w.groups, f, i
		}
		deck = deck[size:]
		w.groups++
	}
}

// luck returns a pseudo-random number below n that depends only on the seed, page and purpose.
func (w *web) luck(page int, purpose uint64, n int) int {
	return rand.New(rand.NewPCG(w.seed^purpose<<32, uint64(page))).IntN(n)
}

const (
	forLinks = 2 + iota
	forTarget
	forExtras
	forBusy
)

// An extra is an address without a page. The page with the same number links to it.
type extra string

const (
	gone    extra = "gone"    // status 404
	moved   extra = "moved"   // redirects to a random page
	private extra = "private" // forbidden by robots.txt
	picture extra = "picture" // a PNG file
	broken  extra = "broken"  // a response that is cut off in the middle
)

func (w *web) extraOf(n int) extra {
	switch p := w.luck(n, forExtras, 1000); {
	case p < 20:
		return gone
	case p < 50:
		return moved
	case p < 70:
		return private
	case p < 80:
		return picture
	case p == 80:
		return broken
	}
	return ""
}

// target returns the page that the extra of page n redirects to.
func (w *web) target(n int) int { return w.luck(n, forTarget, len(w.pages)) }

// busy reports whether page n returns 503 for its first request.
func (w *web) busy(n int) bool { return w.luck(n, forBusy, 500) == 0 }

func (w *web) origin(host int) string {
	return fmt.Sprintf("http://h%d.localhost:%d", host, w.port)
}

func (w *web) path(n int) string {
	if n == w.first[w.pages[n].host] {
		return "/"
	}
	return fmt.Sprintf("/page/%d", n)
}

func (w *web) url(n int) string { return w.origin(w.pages[n].host) + w.path(n) }

func (w *web) extraURL(n int, e extra) string {
	return fmt.Sprintf("%s/%s/%d", w.origin(w.pages[n].host), e, n)
}

func (w *web) links(n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if w.goesIn(n) > 0 {
			return
		}
		p := &w.pages[n]
		start, end := w.first[p.host], w.first[p.host+1]
		rng := rand.New(rand.NewPCG(w.seed^forLinks<<32, uint64(n)))
		own := func(to int) string { return spell(rng, w.origin(p.host), w.path(to)) }
		for child := start + 2*(n-start) + 1; child <= start+2*(n-start)+2; child++ {
			if child < end && !yield(own(child)) {
				return
			}
		}
		for child := 2*p.host + 1; n == start && child <= 2*p.host+2; child++ {
			if child < w.hosts && !yield(w.url(w.first[child])) {
				return
			}
		}
		for range 3 {
			if !yield(own(start + rng.IntN(end-start))) {
				return
			}
		}
		if !yield(w.url(rng.IntN(len(w.pages)))) {
			return
		}
		if e := w.extraOf(n); e != "" && !yield(w.extraURL(n, e)) {
			return
		}
		if w.hasNew(n) {
			yield(w.newURL(n))
		}
	}
}

// spell returns the address of a page, in one of several equivalent spellings.
func spell(rng *rand.Rand, origin, path string) string {
	switch rng.IntN(12) {
	case 0:
		return origin + path
	case 1:
		return "HTTP" + origin[len("http"):] + path + "#part"
	case 2:
		return "/." + path
	case 3:
		return "/x/.." + path
	case 4:
		return " " + path + "\n"
	case 5:
		return "/%70age/../" + path[1:]
	}
	return path
}
