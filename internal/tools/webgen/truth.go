package main

import "iter"

// Totals are the counts that a complete crawl of the generated web must reach.
type Totals struct {
	Seed  uint64 `json:"seed"`
	Hosts int    `json:"hosts"`
	URL   string `json:"url"`  // start URL, from which all pages can be reached
	Busy  int    `json:"busy"` // pages that return 503 for their first request

	Pages  int `json:"pages"` // unique + exact + near + thin
	Unique int `json:"unique"`
	Exact  int `json:"exact"`
	Near   int `json:"near"`
	Thin   int `json:"thin"`

	Gone      int `json:"gone"`   // addresses that return 404
	Broken    int `json:"broken"` // addresses whose response is cut off
	Redirects int `json:"redirects"`
	Blocked   int `json:"blocked"`
	Other     int `json:"other"`
}

func (w *web) totals() Totals {
	t := Totals{Seed: w.seed, Hosts: w.hosts, URL: w.url(0), Pages: len(w.pages)}
	led := make([]bool, w.groups)
	for n, p := range w.pages {
		t.addPage(p.form, led[p.group])
		led[p.group] = true
		if w.busy(n) {
			t.Busy++
		}
		t.addExtra(w.extraOf(n))
	}
	return t
}

// addPage counts a page. again reports whether an earlier page has the same story.
func (t *Totals) addPage(f form, again bool) {
	switch {
	case f == thin || f == thinCopy && !again:
		t.Thin++
	case !again:
		t.Unique++
	case f == near:
		t.Near++
	default:
		t.Exact++
	}
}

func (t *Totals) addExtra(e extra) {
	switch e {
	case gone:
		t.Gone++
	case moved:
		t.Redirects++
	case private:
		t.Blocked++
	case picture:
		t.Other++
	case broken:
		t.Broken++
	}
}

// An Address is the expected result of one URL.
type Address struct {
	URL      string `json:"url"`                // canonical URL of the page
	Kind     string `json:"kind"`               // expected kind of record: page, other, redirect, error or blocked
	Problem  string `json:"problem,omitempty"`  // expected problem, if the kind is error
	Location string `json:"location,omitempty"` // redirect target
	Form     string `json:"form,omitempty"`     // form of a page: alone, exact, near or thin
	Change   change `json:"change,omitempty"`   // change in the last round
	Group    int    `json:"group,omitempty"`    // number of the page's group, from 1; the pages of a group are duplicates of each other and of no other page
}

var formNames = map[form]string{alone: "alone", exact: "exact", near: "near", thin: "thin", thinCopy: "thin"}

// addresses yields all addresses except robots.txt.
func (w *web) addresses() iter.Seq[Address] {
	return func(yield func(Address) bool) {
		for n, p := range w.pages {
			page := Address{URL: w.url(n), Kind: "page", Form: formNames[p.form], Group: p.group + 1, Change: w.changeIn(n, w.round)}
			if gone := w.goneIn(n); gone > 0 {
				page = Address{URL: w.url(n), Kind: "error", Problem: "status 404"}
				if gone == w.round {
					page.Change = vanished
				}
			}
			if !yield(page) {
				return
			}
			e := w.extraOf(n)
			if e == "" {
				continue
			}
			a := Address{URL: w.extraURL(n, e)}
			switch e {
			case gone:
				a.Kind, a.Problem = "error", "status 404"
			case broken:
				a.Kind, a.Problem = "error", "connection broken"
			case moved:
				a.Kind, a.Location = "redirect", w.url(w.target(n))
			case private:
				a.Kind = "blocked"
			case picture:
				a.Kind = "other"
			}
			if !yield(a) {
				return
			}
		}
		w.news()(yield)
	}
}
