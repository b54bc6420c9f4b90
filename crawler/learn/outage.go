package learn

import "fmt"

// # Outages with status 200
//
// During an outage, a site may answer all URLs with a maintenance page, an empty page or a login
// form, all with status 200. An Outage compares what repeated visits find. A visit to a known page
// has one of four results:
//
//	what the visit shows                                          ruling
//	the page, edited or not                                       Fine
//	an error, whatever other pages show                           Replaced
//	a text that has replaced manyAlike texts of the host          Replaced
//	another text, at the first look                               LookAgain
//	another text, at the second look, or with nothing to replace  Fine
//
// At the first look, it is not yet known whether other pages of the host will have the new text, so
// the page is fetched once more after the others. A page that was really rewritten costs one more
// fetch. The looks are recorded in memory only, so the same happens again after a restart.
//
// If most of the last visits to a host found pages replaced, the host gets no more requests, unless
// a page has been replaced for so long that this is no outage.
const (
	// manyAlike is the minimum number of pages with the same new text that count as an outage. Two
	// such pages may be copies that were edited together.
	manyAlike = 3
	// lastVisits is how many of the most recent visits to a host count. Older visits are ignored,
	// so that an outage that begins late in a run is noticed too.
	lastVisits = 10
	// Requests to the host stop only if error pages have replaced at least minReplaced of the pages
	// in these visits. On a small site, a few pages may be edited together.
	minReplaced = 5
	// maxLooks bounds the number of a host's pages that wait for a second fetch. A host that
	// rewrites more pages, each with a different text, is not having an outage.
	maxLooks = 1 << 14
)

// An Outage is the evidence of one run about whether an error page has replaced the pages of a host
// for a while. The zero value has no evidence. It is not safe for concurrent use.
type Outage struct {
	Why string // why the host gets no more requests in this run; "" if it gets requests

	texts   groups          // new texts, with the texts that each has replaced
	last    []Shown         // latest visits, oldest first
	looked  map[string]bool // pages that wait for a second look
	forGood bool            // a page was replaced for so long that the host has changed for good
}

// Shown is what a visit to a known page shows. It is the zero value, except for Page, if the visit
// found the page, edited or not.
type Shown struct {
	Page  string // identifies the page
	Text  string // identifies the text, which is completely different from that of the page
	Was   string // identifies the text that was replaced
	Error bool   // whether the text is that of an error, whatever other pages show
	Never bool   // whether the URL has never had a text, so a second look is of no use
	Again bool   // whether the visit before showed the same error, so it is no news about the host
}

// A Ruling says whether an error page has replaced a page.
type Ruling int

const (
	Fine      Ruling = iota // the visit shows what the page has become
	LookAgain               // fetch the page once more, after the others of the host
	Replaced                // an error page has replaced the page
)

// Visit adds a visit to the evidence. Pass forGood if so many visits in a row have failed that an
// error page in place of the page is no outage.
func (o *Outage) Visit(s Shown, forGood bool) Ruling {
	second := o.looked[s.Page]
	delete(o.looked, s.Page)
	if s.Text != "" && !s.Error {
		o.texts.add(s.Text, s.Was, maxMembers)
	}
	replaced := o.replaced(s)
	again := s.Text != "" && !replaced && !second && !s.Never && len(o.looked) < maxLooks
	o.forGood = o.forGood || replaced && forGood
	if !s.Again && (!second || s.Text == "") {
		o.count(s)
	}
	switch {
	case again:
		if o.looked == nil {
			o.looked = map[string]bool{}
		}
		o.looked[s.Page] = true
		return LookAgain
	case replaced:
		return Replaced
	}
	return Fine
}

func (o *Outage) replaced(s Shown) bool { return s.Error || len(o.texts.of(s.Text)) >= manyAlike }

func (o *Outage) count(s Shown) {
	if o.last = append(o.last, s); len(o.last) > lastVisits {
		o.last = o.last[1:]
	}
	if n := o.bad(); o.Why == "" && !o.forGood && n >= minReplaced && 2*n > len(o.last) {
		o.Why = fmt.Sprintf("%d of the last %d revisited pages are empty, or all have the same text", n, len(o.last))
	}
}

func (o *Outage) bad() (n int) {
	for _, s := range o.last {
		if o.replaced(s) {
			n++
		}
	}
	return n
}

// Over reports whether there were enough visits to decide, and most of them found their pages.
func (o *Outage) Over() bool { return len(o.last) >= minReplaced && 2*o.bad() < len(o.last) }
