package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skink/dedup"
	"skink/store"
)

// # Kept findings
//
// A store keeps the findings of its last [MaxKept] crawls, so that an audit can be compared with an
// earlier one. The value named indexName lists the crawls, with the number of entries of each
// finding. The entries themselves are in slots, one per crawl, and there is one spare slot. [Keep]
// writes the entries to the free slot, and then replaces the index in one step. If the process is
// killed between the two, the index still refers to the old slots. The index contains a checksum of
// each slot, to detect a slot that another process has overwritten. Keep never deletes a free slot,
// because another worker may be writing to it.
//
// A slot contains a keptFindings in the format of encoding/gob, compressed. An entry is identified by
// its page, unless the finding has keys. The entries of such a finding are groups of pages, whole
// hosts, or pairs of pages. A million pages with ten findings each take about ten megabytes.
//
// If the entries of a crawl take more than keptSize bytes, Keep leaves out the findings with the
// most entries. The index then contains only the number of their entries.

// MaxKept is the maximum number of crawls whose findings a store keeps.
const MaxKept = 30

// keptSize is the maximum size of the entries of one crawl, in bytes, before compression. Tests
// change it.
var keptSize = 8 << 20

const indexName = "findings"

// IsKept reports whether the value with this name is part of the kept findings.
func IsKept(name string) bool { return name == indexName || strings.HasPrefix(name, indexName+" ") }

// slotName returns the name of the value of a slot. The value had parts, numbered from 0, in stores of earlier builds.
func slotName(slot int) string { return fmt.Sprintf("%s %d.0", indexName, slot) }

// A Crawl is a crawl whose findings a store keeps.
type Crawl struct {
	store.Crawl
	Ended   time.Time      `json:"ended"`         // when the findings were stored, to the second
	Visited time.Time      `json:"visited"`       // latest visit to any URL
	End     store.Cursor   `json:"end"`           // position after the last change that the audit read
	Missing int64          `json:"missing"`       // URLs of the site that were not fetched
	Counts  map[string]int `json:"counts"`        // number of entries of each finding that the audit checked for, by full name
	Cut     []string       `json:"cut,omitempty"` // findings whose entries are not kept because there are too many
	Slot    int            `json:"slot"`
	Sum     string         `json:"sum"`    // checksum of the slot
	Serial  int            `json:"serial"` // increases with each change of the list, so that no list occurs twice
}

// A History lists those crawls of a store whose findings are kept.
type History struct {
	Now  store.Crawl // last crawl of the store, which may still be running
	Kept []Crawl     // in ascending order by number

	index []byte
}

// ReadHistory reads the list of kept crawls.
func ReadHistory(ctx context.Context, s store.MetaReader) (h *History, err error) {
	h = &History{}
	if h.Now, err = store.LastCrawl(ctx, s); err != nil {
		return nil, err
	}
	if h.index, err = s.Meta(ctx, indexName); err != nil || len(h.index) == 0 {
		return h, err
	}
	text, err := store.Unpack(h.index)
	if err == nil {
		err = json.Unmarshal(text, &h.Kept)
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of saved findings: %w: %v", store.ErrCorrupt, err)
	}
	return h, nil
}

// Of returns the kept crawl with the given number, or nil if there is none.
func (h *History) Of(number int) *Crawl {
	for i := range h.Kept {
		if h.Kept[i].Number == number {
			return &h.Kept[i]
		}
	}
	return nil
}

// Before returns the crawl before the store's last one, or nil if its findings are not kept.
func (h *History) Before() *Crawl { return h.Of(h.Now.Number - 1) }

// Last returns the latest kept crawl before the store's last crawl, or nil if there is none.
func (h *History) Last() *Crawl {
	earlier := h.Earlier()
	if len(earlier) == 0 {
		return nil
	}
	return &earlier[len(earlier)-1]
}

// Earlier returns the kept crawls that precede the store's last crawl, in ascending order by
// number.
func (h *History) Earlier() []Crawl {
	n, _ := slices.BinarySearchFunc(h.Kept, h.Now.Number, func(c Crawl, number int) int { return cmp.Compare(c.Number, number) })
	return h.Kept[:n:n]
}

// At returns the latest kept crawl that ended at or before t, or nil if there is none.
func (h *History) At(t time.Time) (last *Crawl) {
	for i := range h.Kept {
		if !h.Kept[i].Ended.After(t) {
			last = &h.Kept[i]
		}
	}
	return last
}

// Keep stores the findings of an audit as those of the store's last crawl. It replaces any findings
// already stored for that crawl.
func Keep(ctx context.Context, s store.Meta, a *Audit, at time.Time) (*Crawl, error) {
	c := Crawl{Ended: at.UTC().Truncate(time.Second), Visited: a.Last, End: a.end, Missing: a.Coverage.Missing(), Counts: map[string]int{}}
	value, cut := a.encode()
	for _, f := range a.compared() {
		if !f.unchecked {
			c.Counts[f.FullName()] = f.Count()
		}
	}
	c.Cut, c.Sum = cut, sumOf(value)
	for {
		h, err := ReadHistory(ctx, s)
		if err != nil {
			return nil, err
		}
		c.Crawl = h.Now
		c.Slot = 0
		for slices.ContainsFunc(h.Kept, func(old Crawl) bool { return old.Slot == c.Slot }) {
			c.Slot++
		}
		for _, old := range h.Kept {
			c.Serial = max(c.Serial, old.Serial+1)
		}
		if err := s.SetMeta(ctx, slotName(c.Slot), value); err != nil {
			return nil, fmt.Errorf("save findings: %w", err)
		}
		h.add(c)
		text, err := json.Marshal(h.Kept)
		if err != nil {
			return nil, err
		}
		err = s.SwapMeta(ctx, indexName, h.index, store.Pack(text))
		if errors.Is(err, store.ErrChanged) { // another worker has stored the findings of this crawl in the meantime
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("save findings: %w", err)
		}
		return &c, nil
	}
}

// add adds a crawl, or replaces the one with the same number. It removes the oldest crawls beyond
// the limit.
func (h *History) add(c Crawl) {
	h.Kept = slices.DeleteFunc(h.Kept, func(old Crawl) bool { return old.Number == c.Number })
	h.Kept = append(h.Kept, c)
	slices.SortFunc(h.Kept, func(a, b Crawl) int { return cmp.Compare(a.Number, b.Number) })
	h.Kept = h.Kept[max(0, len(h.Kept)-MaxKept):]
}

func sumOf(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:16])
}

// compared returns the findings that can be compared across crawls: all except those with the
// weight OK, which list pages without a problem.
func (a *Audit) compared() (all []*Finding) {
	for _, l := range a.Lists {
		for _, f := range l.Findings {
			if f.Weight < OK {
				all = append(all, f)
			}
		}
	}
	return all
}

// shortID returns the first eight bytes of an id, which suffice to identify a page within one
// store.
func shortID(id dedup.Hash) uint64 { return binary.BigEndian.Uint64(id[:8]) }

func (f *Finding) keyOf(e entry) uint64 {
	pages := f.list.audit.site.pages
	switch {
	case f.isOnce(e):
		return f.keys[e]
	case !f.pairs:
		return shortID(pages[e.page].id)
	}
	both := slices.Clone(pages[e.page].id[:])
	if e.other != nobody {
		both = append(both, pages[e.other].id[:]...)
	}
	return shortID(dedup.HashOf(both))
}

// isOnce reports whether an entry stands for more than its page, such as all pages of a host.
func (f *Finding) isOnce(e entry) bool { return f.keys[e] != 0 }

func (f *Finding) keyed() bool { return len(f.keys) > 0 || f.pairs }

// A keptFindings is the content of a slot. Numbers in ascending order are kept as differences, which
// take less space; see differences.
type keptFindings struct {
	IDs      []uint64 // short ids of the pages of all entries, as differences
	Findings []pastFinding
}

type pastFinding struct {
	Name  string   // full name
	Pages []uint32 // page of each entry, as an index in the ids of the crawl; ascending if there are no keys, and then kept as differences
	Keys  []uint64 // key of each entry, ascending; nil if entries are identified by their page
}

// pastOf returns the counted entries of a finding. The argument ids contains the sorted short ids
// of the pages of all findings.
func (f *Finding) pastOf(ids []uint64) pastFinding {
	p := pastFinding{Name: f.FullName()}
	type keyAndPage struct {
		key  uint64
		page uint32
	}
	all := make([]keyAndPage, 0, f.Count())
	for _, e := range f.entries[:f.Count()] {
		at, _ := slices.BinarySearch(ids, shortID(f.list.audit.site.pages[e.page].id))
		all = append(all, keyAndPage{f.keyOf(e), uint32(at)})
	}
	slices.SortFunc(all, func(a, b keyAndPage) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.page, b.page)) })
	all = slices.CompactFunc(all, func(a, b keyAndPage) bool { return a.key == b.key })
	for _, e := range all {
		p.Pages = append(p.Pages, e.page)
		if f.keyed() {
			p.Keys = append(p.Keys, e.key)
		}
	}
	return p
}

// encode returns the entries of the audit's findings as stored in a slot. The result cut contains
// the names of the findings that were left out.
func (a *Audit) encode() (value []byte, cut []string) {
	findings := slices.DeleteFunc(a.compared(), func(f *Finding) bool { return f.unchecked || f.Count() == 0 })
	slices.SortStableFunc(findings, func(f, g *Finding) int { return cmp.Compare(f.Count(), g.Count()) })
	for {
		if b := a.encodeOnly(findings); len(b) <= keptSize {
			return store.Pack(b), cut
		}
		last := len(findings) - 1
		cut, findings = append(cut, findings[last].FullName()), findings[:last]
	}
}

func (a *Audit) encodeOnly(findings []*Finding) []byte {
	var ids []uint64
	for _, f := range findings {
		for _, e := range f.entries[:f.Count()] {
			ids = append(ids, shortID(a.site.pages[e.page].id))
		}
		slices.Sort(ids) // after each finding, so ids does not grow far beyond the number of pages
		ids = slices.Compact(ids)
	}
	kept := keptFindings{}
	for _, f := range findings {
		p := f.pastOf(ids)
		if p.Keys == nil {
			differences(p.Pages)
		}
		kept.Findings = append(kept.Findings, p)
	}
	differences(ids)
	kept.IDs = ids
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(kept); err != nil {
		panic(err) // cannot happen: the types can be encoded, and a buffer takes everything
	}
	return b.Bytes()
}

// differences replaces each element of a list, except the first, by its difference from the element
// before it.
func differences[N uint32 | uint64](all []N) {
	for i := len(all) - 1; i > 0; i-- {
		all[i] -= all[i-1]
	}
}

// sums undoes differences.
func sums[N uint32 | uint64](all []N) {
	for i := 1; i < len(all); i++ {
		all[i] += all[i-1]
	}
}

// A Past holds the findings of an earlier crawl, including their entries.
type Past struct {
	Crawl
	ids      []uint64 // short ids of the pages of all entries, in ascending order
	findings map[string]pastFinding
}

// ReadPast reads the findings of a crawl in the history of a store.
func ReadPast(ctx context.Context, s store.MetaReader, c *Crawl) (*Past, error) {
	value, err := s.Meta(ctx, slotName(c.Slot))
	if err != nil {
		return nil, fmt.Errorf("read the findings of crawl %d: %w", c.Number, err)
	}
	p := &Past{Crawl: *c}
	if sumOf(value) != c.Sum || p.decode(value) != nil {
		return nil, fmt.Errorf("the findings of crawl %d are damaged; choose another crawl: %w", c.Number, store.ErrCorrupt)
	}
	return p, nil
}

var errKept = errors.New("the format of the saved findings is invalid")

func (p *Past) decode(value []byte) error {
	b, err := store.Unpack(value)
	if err != nil {
		return err
	}
	var kept keptFindings
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&kept); err != nil {
		return err
	}
	sums(kept.IDs)
	p.ids, p.findings = kept.IDs, map[string]pastFinding{}
	for _, f := range kept.Findings {
		if f.Keys == nil {
			sums(f.Pages)
		} else if len(f.Keys) != len(f.Pages) {
			return errKept
		}
		if slices.ContainsFunc(f.Pages, func(page uint32) bool { return int(page) >= len(p.ids) }) {
			return errKept
		}
		p.findings[f.Name] = f
	}
	return nil
}
