// Bruteforce compares the verdicts of a crawl with the exact resemblance of every pair of pages,
// computed without sketches, bands, index or cache.
//
//	skink export --include all | go run ./internal/tools/bruteforce --similarity 0.8
//
// It prints recall and precision. Consider all pairs of pages on different hosts whose resemblance
// is at least --similarity: recall is the share of these pairs in which at least one page is not
// unique. Consider all pages with the verdict near: precision is the share of these pages whose
// resemblance to their leader is at least --similarity. Thin pages are left out, because a crawl
// does not compare them.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"

	"skink/dedup"
)

type page struct {
	URL         string            `json:"url"`
	Text        string            `json:"text"`
	Verdict     dedup.VerdictKind `json:"verdict"`
	DuplicateOf string            `json:"duplicate_of"`
	Resemblance float64           `json:"resemblance"`

	host string
	set  dedup.Set
}

func main() {
	similarity := flag.Float64("similarity", dedup.DefaultSimilarity, "the similarity that was asked for")
	shingle := flag.Int("shingle", dedup.DefaultShingle, "words in a shingle")
	flag.Parse()
	result, err := measure(os.Stdin, *similarity, *shingle)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bruteforce:", err)
		os.Exit(1)
	}
	fmt.Println(result)
	if result.lost > 0 {
		os.Exit(1)
	}
}

type result struct {
	pages              int
	pairs, found       int     // number of similar pairs across hosts, and how many of these contain a page that is not unique
	within, foundInOne int     // the same numbers for pairs on one host
	near, right        int     // number of pages with the verdict near, and how many of these resemble their leader by at least the similarity
	lost               int     // number of duplicates whose leader is not in the export
	worst              float64 // maximum difference between the resemblance in a verdict and the exact resemblance
}

func (r result) String() string {
	share := func(n, of int) float64 {
		if of == 0 {
			return 1
		}
		return float64(n) / float64(of)
	}
	return fmt.Sprintf("pages %d\nrecall    %.4f  %d of %d pairs across hosts\n          %.4f  %d of %d pairs on one host\nprecision %.4f  %d of %d verdicts near; their resemblance off by at most %.2g\nleaders missing %d",
		r.pages, share(r.found, r.pairs), r.found, r.pairs, share(r.foundInOne, r.within), r.foundInOne, r.within,
		share(r.right, r.near), r.right, r.near, r.worst, r.lost)
}

func measure(r io.Reader, similarity float64, shingle int) (result, error) {
	pages, err := read(r, shingle)
	if err != nil {
		return result{}, err
	}
	res := result{pages: len(pages)}
	res.comparePairs(pages, similarity)
	res.checkVerdicts(pages, similarity)
	return res, nil
}

func read(r io.Reader, shingle int) ([]*page, error) {
	var pages []*page
	var canon dedup.Text
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			p := new(page)
			if err := json.Unmarshal(line, p); err != nil {
				return nil, err
			}
			if u, err := url.Parse(p.URL); err == nil {
				p.host = u.Host
			}
			canon.Read([]byte(p.Text))
			p.set, p.Text = canon.Set(shingle), ""
			pages = append(pages, p)
		}
		if errors.Is(err, io.EOF) {
			return pages, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// comparePairs counts the similar pairs. It counts the shingles that each page shares with each
// earlier page.
func (res *result) comparePairs(pages []*page, similarity float64) {
	holders := map[uint64][]int32{}
	shared := make([]int32, len(pages))
	for i, p := range pages {
		if p.Verdict == dedup.Thin {
			continue
		}
		var met []int32
		for _, s := range p.set {
			for _, j := range holders[s] {
				if shared[j] == 0 {
					met = append(met, j)
				}
				shared[j]++
			}
			holders[s] = append(holders[s], int32(i))
		}
		for _, j := range met {
			q := pages[j]
			c := float64(shared[j])
			shared[j] = 0
			if c/(float64(len(p.set)+len(q.set))-c) >= similarity {
				res.pair(p, q)
			}
		}
	}
}

func (res *result) pair(p, q *page) {
	all, found := &res.within, &res.foundInOne
	if p.host != q.host {
		all, found = &res.pairs, &res.found
	}
	*all++
	if p.Verdict != dedup.Unique || q.Verdict != dedup.Unique {
		*found++
	}
}

func (res *result) checkVerdicts(pages []*page, similarity float64) {
	byURL := map[string]*page{}
	for _, p := range pages {
		byURL[p.URL] = p
	}
	for _, p := range pages {
		if p.DuplicateOf == "" {
			continue
		}
		leader := byURL[p.DuplicateOf]
		if leader == nil {
			res.lost++
			continue
		}
		truth := dedup.Resemblance(p.set, leader.set)
		res.worst = max(res.worst, truth-p.Resemblance, p.Resemblance-truth)
		if p.Verdict == dedup.Near {
			res.near++
			if truth >= similarity {
				res.right++
			}
		}
	}
}
