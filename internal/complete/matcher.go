package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skink/base/lru"
	"skink/dedup"
	"skink/store"
)

// cacheBytes bounds the memory for cached shingles. 32 MiB is enough for about 4,000 pages of a
// thousand words.
const cacheBytes = 32 << 20

// A matcher finds the texts of a store that resemble each other. A join of their shingles finds
// candidate pairs, and each pair is compared exactly. Only one goroutine may use a matcher.
type matcher struct {
	w     *Whole
	join  *dedup.Join // join of the texts without repeated blocks
	mixed *dedup.Join // join of whole texts; see joinMixed; nil if no pair needs it
	sets  *lru.Cache[setKey, dedup.Set]
	canon dedup.Text
}

// A setKey is the key of cached shingles: a text, either whole or without the blocks that hosts
// repeat.
type setKey struct {
	page dedup.Hash // ID of a page with the text
	left bool       // whether the blocks that are repeated on many pages of a host are left out
}

// newMatcher returns a matcher that compares whole texts. The argument least is the minimum
// resemblance of the pairs to find.
func newMatcher(ctx context.Context, w *Whole, least float64) (*matcher, error) {
	c := &matcher{w: w, sets: lru.New[setKey](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })}
	return c, c.index(ctx, least)
}

// index builds the join. It reads each text twice, first to count how rare its shingles are, and
// then to index it under the rarest.
func (c *matcher) index(ctx context.Context, least float64) error {
	c.join = nil // free the old join first, to save memory
	order := c.count(c.short())
	if err := c.long(ctx, func(_ int, s dedup.Set) { order.Count(s) }); err != nil {
		return err
	}
	return c.post(ctx, order, least)
}

// count returns an empty table for counting shingles, sized for the words in the texts that are not
// skipped.
func (c *matcher) count(skip []bool) *dedup.Occurrences {
	words := 0
	for i := range c.w.texts {
		if !skip[i] {
			words += c.w.texts[i].pages[0].words
		}
	}
	return dedup.NewOccurrences(words)
}

// post builds the join of all texts that are long enough to compare. The argument order contains
// the frequencies of their shingles.
func (c *matcher) post(ctx context.Context, order *dedup.Occurrences, least float64) error {
	c.join = dedup.NewJoin(least, len(c.w.texts), order)
	return c.long(ctx, c.join.Add)
}

// long calls take with the index and the shingles of each text that is long enough to compare. The
// shingles are those of the shortened text, or of the whole text if it was not shortened. The order
// of the texts is arbitrary.
func (c *matcher) long(ctx context.Context, take func(int, dedup.Set)) error {
	return c.take(ctx, c.short(), (*text).likely, c.w.counted(take))
}

// take calls yield with the index and the shingles of each text for which done is false, and then
// sets done to true for all texts. The function partOf chooses between the shingles of the whole
// text and those of the shortened text. Texts whose shingles are in memory come first, in no
// particular order.
func (c *matcher) take(ctx context.Context, done []bool, partOf func(*text) setKey, yield func(int, dedup.Set)) error {
	for i := range c.w.texts {
		if done[i] {
			continue
		}
		if s, ok := c.sets.Get(partOf(&c.w.texts[i])); ok {
			done[i] = true
			yield(i, s)
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	shingles := func(canon *dedup.Text, t *text, words string) dedup.Set {
		return c.w.shinglesOf(canon, t, words, partOf(t).left)
	}
	return c.w.readAll(ctx, done, shingles, func(i int, s dedup.Set) {
		c.sets.Put(partOf(&c.w.texts[i]), s)
		yield(i, s)
	})
}

func (c *matcher) short() []bool {
	short := make([]bool, len(c.w.texts))
	for i := range short {
		short[i] = c.w.texts[i].short
	}
	return short
}

// likely returns the key of the shingles that find most of the texts similar to t. They are those
// of the shortened text, or of the whole text if it was not shortened.
func (t *text) likely() setKey { return setKey{t.pages[0].id, t.shorter} }

func (t *text) all() setKey { return setKey{t.pages[0].id, false} }

// shinglesOf returns the shingles of a text. If left is true, it first removes the blocks that
// are repeated on many pages of a host.
func (w *Whole) shinglesOf(canon *dedup.Text, t *text, words string, left bool) dedup.Set {
	page := &t.pages[0]
	if left {
		words, _ = w.without(canon, words, page.lang)
	}
	w.rule.Read(canon, words, page.lang)
	return w.rule.Set(canon)
}

// alike yields the texts after text i that resemble it enough: at least from[i] and at least
// from[other]. [dedup.Clusters] calls it.
func (c *matcher) alike(ctx context.Context, i int, from []float64, yield func(other int, resemblance float64)) (err error) {
	try := func(other int) bool {
		got, ok, failed := c.resembles(ctx, i, other, max(from[i], from[other]))
		if err = failed; ok {
			yield(other, got)
		}
		return err == nil
	}
	c.join.After(i, from, func(other int) bool { return c.isMixed(i, other) || try(other) })
	if err == nil && c.mixed != nil {
		c.mixed.After(i, from, func(other int) bool { return !c.isMixed(i, other) || try(other) })
	}
	if err != nil {
		return err
	}
	return ctx.Err()
}

// isMixed reports whether one of two texts was shortened, and the other has too few words left
// without its repeated blocks.
func (c *matcher) isMixed(a, b int) bool {
	x, y := &c.w.texts[a], &c.w.texts[b]
	return x.shorter && y.bare || x.bare && y.shorter
}

// resembles returns the exact resemblance of the texts a and b without the blocks that hosts
// repeat. If only one of them can be shortened, it compares the whole texts; see boilerplate.go.
// The result ok is false if the resemblance is less than t.
func (c *matcher) resembles(ctx context.Context, a, b int, t float64) (resemblance float64, ok bool, err error) {
	c.w.compared++
	left := !c.isMixed(a, b)
	x, err := c.set(ctx, &c.w.texts[a], left)
	if err != nil {
		return 0, false, err
	}
	y, err := c.set(ctx, &c.w.texts[b], left)
	if err != nil {
		return 0, false, err
	}
	resemblance, ok = dedup.Resembles(x, y, t)
	return resemblance, ok, nil
}

// set returns the shingles of a text. If left is true and the text was shortened, they are those of
// the shortened text.
func (c *matcher) set(ctx context.Context, t *text, left bool) (dedup.Set, error) {
	key := setKey{t.pages[0].id, left && t.shorter}
	if s, ok := c.sets.Get(key); ok {
		return s, nil
	}
	words, err := c.w.textOf(ctx, &t.pages[0])
	if err != nil {
		return nil, err
	}
	s := c.w.shinglesOf(&c.canon, t, words, key.left)
	c.sets.Put(key, s)
	return s, nil
}

// textOf returns the text of a page. It returns "" if that text is no longer stored, because the
// page was visited or judged again since the comparison began.
func (w *Whole) textOf(ctx context.Context, page *ranked) (string, error) {
	pages, err := w.Reader.Pages(ctx, []dedup.Hash{page.id}, store.WantText)
	if err != nil {
		return "", err
	}
	switch now := pages[0]; {
	case now != nil && now.Kept:
		return now.Text, nil
	case now == nil || now.Record.Hash != page.hash || now.Record.NoText:
		return "", nil
	}
	return "", fmt.Errorf("read the text of %s: %w", page.URL, store.ErrCorrupt)
}

// without returns a text without the blocks that are repeated on many pages of a host. The result
// shorter reports whether there were any.
func (w *Whole) without(canon *dedup.Text, text, lang string) (left string, shorter bool) {
	left = strings.Join(w.parts(canon, text, lang), "")
	return left, len(left) < len(text)
}

// parts returns the parts of a text before, between and after the blocks that are repeated on many
// pages of a host.
func (w *Whole) parts(canon *dedup.Text, text, lang string) (parts []string) {
	begin, end := 0, 0
	for line := range strings.Lines(text) {
		if number, ok := w.rule.Block(canon, line, lang); ok && w.repeated[number] {
			if begin < end {
				parts = append(parts, text[begin:end])
			}
			begin = end + len(line)
		}
		end += len(line)
	}
	if begin < end {
		parts = append(parts, text[begin:])
	}
	return parts
}
