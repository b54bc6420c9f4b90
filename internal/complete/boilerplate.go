package complete

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// # Boilerplate of a host
//
// A block is a line of a stored text. A block that recurs on many pages of a host is probably part
// of the host's template that the extractor did not recognize. It is left out of the comparison.
//
// Only different pages count; see different.go. [dedup.Recurring] defines how many are enough.
//
// A block that one host repeats is ignored on all hosts, so that the same blocks are missing from
// both pages of a pair. Otherwise a block that recurs just often enough on a host, but not on its
// mirror, would separate a page from its copy. So would a footer copied to another host along with
// a page. The cost is that such a block is missing even where it is the real text of a page.
//
// A page that would have fewer than --min-words words left keeps all its text. For example, the
// content of a contract made of shared clauses is its clauses, not its title. There are two kinds
// of pairs:
//
//   - Both pages have enough words left. Their remaining texts are compared, so copies in two
//     different templates are found.
//   - One of the pages has too few words left. Both are compared in full. So a copy and its
//     original are found even if one of them has just enough words left and the other just too
//     few.
//
// A page whose whole text is thin stays thin, and pages with equal whole texts stay exact copies.

// A boilerplate describes the blocks that one host repeats on many pages.
type boilerplate struct {
	Host      string         `json:"host"`
	Pages     int            `json:"pages"`     // number of distinct pages whose blocks were counted; 0 if the host has too few pages
	Blocks    map[uint64]int `json:"blocks"`    // number of counted pages with each block, by the hash of the block
	Top       []report.Block `json:"top"`       // the most frequent blocks, at most topBlocks, in descending order
	Shortened int            `json:"shortened"` // number of this host's pages compared without blocks that this or another host repeats
}

// topBlocks is the maximum number of blocks per host that are reported with their text.
const topBlocks = 20

// learn finds the blocks that each host repeats. It clusters the whole texts to tell different
// pages from copies.
func (w *Whole) learn(ctx context.Context) error {
	var hosts []*boilerplate
	step, done := w.progress.next(len(w.texts)), 0
	err := w.different(ctx, func(host string, different []int32) error {
		if len(different) < dedup.RecurringHost {
			return nil
		}
		b, err := w.learnHost(ctx, host, different)
		done += len(different)
		step(done)
		hosts = append(hosts, b)
		return err
	})
	if err == nil {
		w.repeat(hosts)
	}
	return err
}

func (w *Whole) repeat(hosts []*boilerplate) {
	w.hosts, w.repeated = hosts, map[uint64]bool{}
	for _, b := range hosts {
		for number := range b.Blocks {
			w.repeated[number] = true
		}
	}
}

func (w *Whole) learnHost(ctx context.Context, host string, pages []int32) (*boilerplate, error) {
	returning := dedup.NewRecurring(len(pages))
	var held [][]uint64 // hashes of the blocks of the first pages, kept so that most hosts are read only once
	weight := 0         // number of the kept hashes
	for _, take := range []func([]uint64){returning.Read, returning.Count} {
		for i, p := range pages {
			if i < len(held) {
				take(held[i])
				continue
			}
			blocks, err := w.blocksOf(ctx, p)
			if err != nil {
				return nil, err
			}
			hashes := slices.Collect(maps.Keys(blocks))
			if weight += len(hashes); weight <= maxHeld && i == len(held) {
				held = append(held, hashes)
			}
			take(hashes)
		}
	}
	b := &boilerplate{Host: host, Pages: len(pages), Blocks: returning.Blocks()}
	return b, w.showTop(ctx, b, pages)
}

// maxHeld is the maximum number of block hashes that learnHost keeps in memory. A hash takes 8
// bytes, so the limit is 16 MiB.
const maxHeld = 2 << 20

// blocksOf maps the hash of each block of a page to the block's text.
func (w *Whole) blocksOf(ctx context.Context, page int32) (map[uint64]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := w.read(ctx, page)
	if err != nil {
		return nil, err
	}
	var canon dedup.Text
	blocks := map[uint64]string{}
	for line := range strings.Lines(p.text) {
		if number, ok := w.rule.Block(&canon, line, p.lang); ok && blocks[number] == "" {
			blocks[number] = strings.TrimSpace(line)
		}
	}
	return blocks, nil
}

// showTop sets b.Top to the blocks found on the most pages. The text of each block is read from the
// first page that contains it, because b.Blocks has only hashes.
func (w *Whole) showTop(ctx context.Context, b *boilerplate, pages []int32) error {
	most := slices.SortedFunc(maps.Keys(b.Blocks), func(x, y uint64) int {
		return cmp.Or(cmp.Compare(b.Blocks[y], b.Blocks[x]), cmp.Compare(x, y))
	})
	wanted := map[uint64]bool{}
	for _, number := range most[:min(len(most), topBlocks)] {
		wanted[number] = true
	}
	for _, p := range pages {
		if len(wanted) == 0 {
			break
		}
		blocks, err := w.blocksOf(ctx, p)
		if err != nil {
			return err
		}
		for number := range wanted {
			if text := blocks[number]; text != "" {
				b.Top = append(b.Top, report.Block{Text: text, Pages: b.Blocks[number]})
				delete(wanted, number)
			}
		}
	}
	slices.SortFunc(b.Top, func(x, y report.Block) int {
		return cmp.Or(cmp.Compare(y.Pages, x.Pages), cmp.Compare(x.Text, y.Text))
	})
	return nil
}

// shorten rebuilds the join without the blocks that are repeated on many pages of a host. A text is
// then indexed by its remaining blocks, or by all its blocks if too few words remain to compare.
func (c *matcher) shorten(ctx context.Context) error {
	order := c.w.occurrences(c.w.words)
	err := c.w.readAll(ctx, c.w.short(), c.w.shortenText, c.w.counted(func(i int, s dedup.Set) error {
		c.sets.Put(c.likely(i), s)
		order.Count(s)
		return nil
	}))
	if err != nil {
		return err
	}
	if err := c.w.countShortened(ctx); err != nil {
		return err
	}
	if err := c.post(ctx, order); err != nil {
		return err
	}
	return c.joinMixed(ctx)
}

func (w *Whole) shortenText(canon *dedup.Text, i int, p wording) dedup.Set {
	p.text = strings.Join(w.shortened(canon, i, p), "")
	return w.shinglesOf(canon, p, false)
}

// shortened returns the parts of text i that are left without the blocks that are repeated on many
// pages of a host. It marks the text as shorter. If too few words would remain to compare, shortened
// returns the whole text, and marks it as bare.
func (w *Whole) shortened(canon *dedup.Text, i int, p wording) []string {
	t := &w.texts[i]
	t.shorter, t.bare = false, false
	parts := w.parts(canon, p)
	left := strings.Join(parts, "")
	if len(left) == len(p.text) {
		return []string{p.text}
	}
	w.rule.Read(canon, left, p.lang)
	t.bare = w.rule.Short(canon.Len())
	t.shorter = !t.bare
	if t.bare {
		return []string{p.text}
	}
	return parts
}

// joinMixed adds the entries for pairs in which one text was shortened and the other has too few words
// left without its repeated blocks. Such a pair is compared in full, so these entries are of the whole
// texts of both kinds. Only shingles of the second kind of text are counted and indexed, of which there
// are few.
func (c *matcher) joinMixed(ctx context.Context) error {
	both, bare := c.w.short(), c.w.short() // which texts to skip
	isShorter, bares := false, 0
	for i := range c.w.texts {
		t := &c.w.texts[i]
		isShorter = isShorter || t.shorter
		if t.bare {
			bares++
		}
		both[i] = both[i] || !t.shorter && !t.bare
		bare[i] = bare[i] || !t.bare
	}
	if !isShorter || bares == 0 {
		return nil
	}
	order := c.w.occurrences(c.w.words / len(c.w.texts) * bares)
	if err := c.take(ctx, bare, all, counting(order)); err != nil {
		return err
	}
	return c.take(ctx, both, all, c.enter(order, true))
}

// countShortened counts the shortened pages of each host.
func (w *Whole) countShortened(ctx context.Context) error {
	pages := map[string]int{}
	for change, err := range w.Reader.Changes(ctx, "", store.WantRecord) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if page, ok := w.pages.find(change.Record.ID); ok && w.texts[w.pages.text[page]].shorter {
			pages[store.HostOf(change.Record.URL)]++
		}
	}
	for _, h := range w.hosts {
		h.Shortened = pages[h.Host]
		delete(pages, h.Host)
	}
	for _, host := range slices.Sorted(maps.Keys(pages)) {
		w.hosts = append(w.hosts, &boilerplate{Host: host, Shortened: pages[host]})
	}
	return nil
}

// LeftOut returns the repeated blocks that the comparison ignored, sorted by host. It omits hosts
// whose pages were all compared in full. It returns nil if [Options].WholeText is set.
func (w *Whole) LeftOut() []report.LeftOut {
	if w.wholeText {
		return nil
	}
	all := []report.LeftOut{}
	for _, b := range w.hosts {
		if b.Shortened == 0 {
			continue
		}
		all = append(all, report.LeftOut{Host: b.Host, Pages: b.Pages, Shortened: b.Shortened, Blocks: len(b.Blocks), Top: append([]report.Block{}, b.Top...)})
	}
	return all
}
