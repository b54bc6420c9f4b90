package complete

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"skink/dedup"
	"skink/internal/join"
	"skink/store"
	"skink/store/precedence"
)

// # Pages in memory
//
// A comparison of ten million pages may not keep their URLs in memory. The pages are sorted by rank
// on disk, and are numbered in that order. So what is kept of a page is its ID and three numbers.
// All else is read from the store again when it is needed.

// pages are the compared pages of a store, numbered by rank from 0, and their distinct texts, in the
// order of their first pages. Pages whose words have the same hash have one text.
type pages struct {
	ids   []dedup.Hash // ID of each page
	byID  []int32      // the pages in ascending order of their IDs
	text  []int32      // text of each page
	next  []int32      // next page with the same text; 0 if there is none
	first []int32      // first page of each text
}

// find returns the page with an ID.
func (p *pages) find(id dedup.Hash) (page int32, ok bool) {
	at, ok := slices.BinarySearchFunc(p.byID, id, func(page int32, id dedup.Hash) int { return compareIDs(p.ids[page], id) })
	if !ok {
		return 0, false
	}
	return p.byID[at], true
}

func compareIDs(a, b dedup.Hash) int {
	return cmp.Or(cmp.Compare(binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])),
		cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:])))
}

// of yields the pages with a text, in order of rank.
func (p *pages) of(text int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for page := p.first[text]; yield(page) && p.next[page] > 0; page = p.next[page] {
		}
	}
}

// sizes returns the number of pages in the cluster that each text leads. leaders are the leaders of
// the texts.
func (p *pages) sizes(leaders []int32) []int32 {
	sizes := make([]int32, len(leaders))
	for _, text := range p.text {
		sizes[leaders[text]]++
	}
	return sizes
}

// lead returns the ID of the first page with a text.
func (p *pages) lead(text int) dedup.Hash { return p.ids[p.first[text]] }

// A row describes a page while the pages are sorted. The part that decides its rank comes before
// it; see ranking.key.
type row struct {
	ID, Hash dedup.Hash
	Leader   dedup.Hash // leader of the page in the crawl, if that is another page
	Names    dedup.Hash // page that is the canonical URL of this page, if that is another page
	Words    uint32
	Withheld uint8 // see [precedence.Withheld]
}

var rowSize = binary.Size(row{})

// rowOf returns a page as a row that sorts by rank. place is the page's number in storage order.
func (w *Whole) rowOf(r *store.Record, place int) []byte {
	standing := precedence.Of(r, w.order)
	one := row{ID: r.ID, Hash: r.Hash, Words: uint32(r.Words), Withheld: uint8(standing.Withheld())}
	if r.Follows() {
		one.Leader = r.Leader
	}
	if standing.Names != "" {
		one.Names = dedup.HashOf([]byte(standing.Names))
	}
	value := w.by.valueOf(r)
	if value != "" {
		w.ranked++
	}
	b, _ := binary.Append(w.by.key(value, &standing, one.Words, place), binary.BigEndian, one) // all fields have a fixed size
	return b
}

// A ranking is an order of pages: by the value of a field, by the length of their texts, and by precedence.
// The longest come first in a corpus that should keep as much text as possible. Of equal pages, the
// one stored first is first if stored is set, and otherwise precedence decides.
//
// When a page was first seen does not count, because that depends on the timing of the crawl.
type ranking struct {
	longest, stored bool
	field           string // see [Options.Field]
	least           bool
}

func rankingOf(opt Options) ranking {
	if opt.Rule.Contained > 0 {
		return ranking{longest: true, stored: opt.Longest}
	}
	return ranking{opt.Longest, opt.Longest || opt.Field != "", opt.Field, opt.Least}
}

// key returns the key of a page. value is that of the field; see valueOf.
func (r ranking) key(value string, s *precedence.Standing, words uint32, place int) (key []byte) {
	if r.longest || r.stored {
		key = []byte{uint8(s.Withheld())}
	}
	if r.field != "" {
		key = r.appendValue(key, value)
	}
	if r.longest {
		key = binary.BigEndian.AppendUint32(key, math.MaxUint32-words)
	}
	if r.stored {
		return binary.BigEndian.AppendUint32(key, uint32(place))
	}
	return join.AppendText(s.Key(key), s.URL)
}

// valueOf returns the value of the field of a page, or "" if it has none.
func (r ranking) valueOf(page *store.Record) string {
	if r.field == "" {
		return ""
	}
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(page.Fields))
	d.UseNumber()
	if d.Decode(&all) != nil || all[r.field] == nil {
		return ""
	}
	return fmt.Sprint(all[r.field])
}

// These begin the keys of values, which are in this order whichever of them come first.
const (
	numberKey byte = iota
	textKey
	noKey
)

func (r ranking) appendValue(key []byte, value string) []byte {
	start := len(key) + 1
	number, err := strconv.ParseFloat(value, 64)
	switch {
	case value == "":
		return append(key, noKey)
	case err == nil && !math.IsNaN(number):
		bits := math.Float64bits(number + 0) // -0 is 0
		if number < 0 {
			bits = ^bits
		} else {
			bits |= 1 << 63
		}
		key = binary.BigEndian.AppendUint64(append(key, numberKey), bits)
	default:
		key = join.AppendText(append(key, textKey), value)
	}
	if !r.least {
		for i := range key[start:] {
			key[start+i] ^= 0xFF
		}
	}
	return key
}

func (r ranking) why(a, b *store.Record, order *precedence.Order) string {
	x, y := precedence.Of(a, order), precedence.Of(b, order)
	switch {
	case x.Withheld() == y.Withheld() && r.valueOf(a) != r.valueOf(b):
		return r.field + " " + r.valueOf(a)
	case !r.longest && !r.stored || x.Withheld() != y.Withheld() || a.Words == b.Words && !r.stored:
		y.Seen = x.Seen
		return string(precedence.Why(&x, &y))
	case r.longest && a.Words != b.Words:
		return "longest text"
	}
	return string(precedence.FirstSeen)
}

// rank reads n rows in order of rank, and sets the pages.
func (w *Whole) rank(ctx context.Context, n int, rows iter.Seq2[[]byte, error]) error {
	p, hashes := &w.pages, make([]dedup.Hash, 0, n)
	p.ids = make([]dedup.Hash, 0, n)
	e := election{withheld: make([]uint8, 0, n)}
	words := make([]uint32, 0, n)
	for b, err := range rows {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		var one row
		binary.Decode(b[len(b)-rowSize:], binary.BigEndian, &one)
		p.ids, hashes, words = append(p.ids, one.ID), append(hashes, one.Hash), append(words, one.Words)
		e.add(&one)
	}
	p.byID = sortedBy(p.ids)
	e.pages, e.of = p, firstOf(hashes)
	order := numbers(n)
	if !w.by.longest && !w.by.stored {
		order = e.order()
	}
	w.arrange(order, e.of, words)
	return nil
}

// numbers returns the numbers from 0 to n-1.
func numbers(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// sortedBy returns the indexes of hashes in ascending order of the hashes. Equal hashes stay in order.
func sortedBy(hashes []dedup.Hash) []int32 {
	order := numbers(len(hashes))
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(compareIDs(hashes[a], hashes[b]), cmp.Compare(a, b)) })
	return order
}

// firstOf returns, for each hash, the index of the first equal hash.
func firstOf(hashes []dedup.Hash) []int32 {
	of, first := make([]int32, len(hashes)), int32(0)
	for _, i := range sortedBy(hashes) {
		if hashes[i] != hashes[first] {
			first = i
		}
		of[i] = first
	}
	return of
}

// arrange sets the numbers of the pages to their places in order, and groups them into texts. of is
// the first page with the same words as each page, by its number so far.
func (w *Whole) arrange(order, of []int32, words []uint32) {
	p := &w.pages
	n := len(order)
	ids, now := make([]dedup.Hash, n), make([]int32, n)
	texts, last := slices.Repeat([]int32{-1}, n), make([]int32, n) // by the number so far of the first page with the words
	p.text, p.next = make([]int32, n), make([]int32, n)
	for page, was := range order {
		ids[page], now[was] = p.ids[was], int32(page)
		text := &texts[of[was]]
		if *text < 0 {
			*text = int32(len(p.first))
			p.first = append(p.first, int32(page))
			w.addText(words[was])
		} else {
			p.next[last[of[was]]] = int32(page)
		}
		p.text[page], last[of[was]] = *text, int32(page)
	}
	for i, was := range p.byID {
		p.byID[i] = now[was]
	}
	p.ids = ids
}

func (w *Whole) addText(words uint32) {
	short := w.rule.Short(int(words))
	if !short {
		w.words += int(words)
	}
	w.short = append(w.short, short)
}

// An election finds each page that leads its copies because the page that would otherwise lead them
// names it as its canonical URL. The canonical URL counts only if both pages have the same words, or
// were in one cluster during the crawl. Otherwise it is ignored, because some sites name their home
// page on every page.
type election struct {
	*pages
	of        []int32 // for each page, the first page with the same words
	withheld  []uint8 // see [precedence.Withheld]
	naming    []link  // pages that name another page as their canonical URL
	following []link  // pages that follow another page in the crawl
}

type link struct {
	from int32
	to   dedup.Hash
}

func (e *election) add(one *row) {
	page := int32(len(e.withheld))
	e.withheld = append(e.withheld, one.Withheld)
	if !one.Names.IsZero() {
		e.naming = append(e.naming, link{page, one.Names})
	}
	if !one.Leader.IsZero() {
		e.following = append(e.following, link{page, one.Leader})
	}
}

// order returns the pages in order of rank after the election. A page that another yields to ranks
// just before it.
func (e *election) order() []int32 {
	elected, moved := map[int32]int32{}, map[int32]bool{} // elected maps a page to the page that ranks just before it
	if len(e.naming) > 0 {
		groups := e.groups()
		for _, l := range e.naming {
			if to, ok := e.find(l.to); ok && groups[l.from] == l.from && groups[to] == l.from && e.withheld[l.from] >= e.withheld[to] && !has(e.naming, to) {
				elected[l.from], moved[to] = to, true
			}
		}
	}
	order := make([]int32, 0, len(e.ids))
	for page := range int32(len(e.ids)) {
		if moved[page] {
			continue
		}
		if to, ok := elected[page]; ok {
			order = append(order, to)
		}
		order = append(order, page)
	}
	return order
}

// has reports whether a page is in links, which are in ascending order of page.
func has(links []link, page int32) bool {
	_, ok := slices.BinarySearchFunc(links, page, func(l link, page int32) int { return cmp.Compare(l.from, page) })
	return ok
}

// groups returns for each page the page that would lead its group. A group contains the pages with
// the same words, and those of one cluster of the crawl.
func (e *election) groups() []int32 {
	j := joined(slices.Clone(e.of))
	others := map[dedup.Hash]int32{} // a page of each cluster whose leader has no page here that leads itself
	for _, l := range e.following {
		leader, ok := e.find(l.to)
		if !ok || has(e.following, leader) {
			if leader, ok = others[l.to]; !ok {
				leader, others[l.to] = l.from, l.from
			}
		}
		j.join(l.from, leader)
	}
	for page := range j {
		j[page] = j.of(int32(page))
	}
	return j
}

// A joined is a set of disjoint sets of numbers (union-find). Each number maps to a lower number of its
// set, and the lowest of a set maps to itself.
type joined []int32

func (j joined) of(n int32) int32 {
	for j[n] != n {
		j[n] = j[j[n]] // halve the path for the next call
		n = j[n]
	}
	return n
}

func (j joined) join(a, b int32) {
	a, b = j.of(a), j.of(b)
	j[max(a, b)] = min(a, b)
}
