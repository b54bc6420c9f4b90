package within

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"

	"skink/base/splitmix"
	"skink/dedup"
	"skink/internal/corpus"
)

// # Runs
//
// A window of a text is as many consecutive words as a run has at least. A window is a copy if the same
// words begin before in the corpus, and end before the window begins. So of "ha ha ha ha", the first words
// stay. A run is a row of copies, one word after the other, of windows that are one word after the other,
// too. If two runs overlap, the later one loses the common words.
//
// Most windows occur once. They must not be sorted, because the hashes of all windows take more room than
// the texts. So the first reading finds which windows may occur twice. From each window it chooses a shorter
// row of words, a gram: the one with the least hash. Equal windows choose equal grams, and neighbouring
// windows mostly choose the same one (winnowing; Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms
// for Document Fingerprinting", 2003). Two bits in memory for each hash say whether one chosen gram has it,
// and whether several have. Only windows whose gram occurs several times are sorted, by 128-bit hashes. Two
// different windows have the same hash with probability 2^-128, unless someone looks for a collision: the
// halves are polynomials, which texts of more than a thousand words can be made for.
//
// Lee et al., "Deduplicating Training Data Makes Language Models Better", 2022, remove such runs of 50
// tokens with an array of all suffixes in memory.

// DefaultRun is the default of the minimum length of a run, in words. It is the number of tokens of Lee et al.
const DefaultRun = 50

// second makes other numbers from the hashes of words, for the second half of a hash. It is the fraction
// of pi, as hexadecimal digits.
const second = 0x243F6A8885A308D3

// A filter knows which hashes were added at least twice. It may also say so of a hash that was added once.
type filter struct{ once, twice []uint64 }

// newFilter returns an empty filter that takes about the given number of bytes.
func newFilter(size int64) *filter {
	n := max(size/16, 1)
	return &filter{make([]uint64, n), make([]uint64, n)}
}

func (f *filter) place(hash uint64) (i, bit uint64) {
	i, rest := bits.Mul64(hash, uint64(len(f.once)))
	return i, 1 << (rest >> 58)
}

// add may be called concurrently.
func (f *filter) add(hash uint64) {
	i, bit := f.place(hash)
	if atomic.OrUint64(&f.once[i], bit)&bit != 0 {
		atomic.OrUint64(&f.twice[i], bit)
	}
}

func (f *filter) repeated(hash uint64) bool {
	i, bit := f.place(hash)
	return f.twice[i]&bit != 0
}

// least yields the first place of the least number in each n consecutive numbers.
func least(numbers []uint64, n int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		var rising []int // places of numbers that are less than all numbers before, from the first that still counts
		for i, number := range numbers {
			for len(rising) > 0 && numbers[rising[len(rising)-1]] > number {
				rising = rising[:len(rising)-1]
			}
			rising = append(rising, i)
			if rising[0] == i-n {
				rising = rising[1:]
			}
			if i+1 >= n && !yield(i+1-n, rising[0]) {
				return
			}
		}
	}
}

// grams yields each window of a text, and the hash and the place of the gram that it chooses.
func (c *Cuts) grams(words []uint64) (hashes []uint64, chosen iter.Seq2[int, int]) {
	if len(words) < c.opt.Words {
		return nil, least(nil, 1)
	}
	length := (c.opt.Words + 1) / 2
	hashes = dedup.Roll(nil, words, length)
	return hashes, least(hashes, c.opt.Words-length+1)
}

// mark adds the chosen grams of a text to the filter.
func (c *Cuts) mark(words []uint64) {
	hashes, chosen := c.grams(words)
	last := -1
	for _, at := range chosen {
		if at != last {
			c.repeated.add(hashes[at])
		}
		last = at
	}
}

// findWindows adds the windows that may occur twice to those that are sorted. A number is left free after
// each text, so that no run goes on in the next one.
func (c *Cuts) findWindows(ctx context.Context) error {
	in, begin := bufio.NewReaderSize(c.sets.reader(0), 1<<16), uint64(0)
	var words, mixed []uint64
	for t, err := range c.texts.texts() {
		words = slices.Grow(words[:0], t.size(Run))[:t.Words]
		if err == nil {
			err = binary.Read(in, binary.LittleEndian, words)
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		hashes, chosen := c.grams(words)
		mixed = mixed[:0]
		for _, word := range words {
			mixed = append(mixed, splitmix.Mix(word^second))
		}
		one, two := dedup.Roll(nil, words, c.opt.Words), dedup.Roll(nil, mixed, c.opt.Words)
		for i, at := range chosen {
			if !c.repeated.repeated(hashes[at]) {
				continue
			}
			var hash dedup.Hash
			binary.BigEndian.PutUint64(hash[:], one[i])
			binary.BigEndian.PutUint64(hash[8:], two[i])
			if err := c.addHash(hash, begin+uint64(i), t.Withheld); err != nil {
				return err
			}
		}
		begin += uint64(t.size(Run))
	}
	c.repeated = nil
	return c.sets.close()
}

// takeWindow records that the window at b has the same words as the first one at a, unless they overlap.
func (c *Cuts) takeWindow(a, b uint64) error {
	if b-a < uint64(c.opt.Words) {
		return nil
	}
	return c.copies.Add(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, b), a))
}

// chain joins the copies to runs.
func (c *Cuts) chain(ctx context.Context) error {
	var first, at, length, end uint64 // the run; and the end of the last one
	take := func() error {
		last := end
		if end = at + length; length == 0 || last >= end {
			end = max(last, end)
			return nil
		}
		shared := max(last, at) - at
		row := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, first+shared), at+shared)
		return c.pairs.Add(binary.BigEndian.AppendUint64(row, length-shared))
	}
	for row, err := range c.copies.Sorted() {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		b, a := binary.BigEndian.Uint64(row), binary.BigEndian.Uint64(row[8:])
		if next := at + length - uint64(c.opt.Words) + 1; length > 0 && b == next && b-a == at-first {
			length++
			continue
		}
		if err := take(); err != nil {
			return err
		}
		first, at, length = a, b, uint64(c.opt.Words)
	}
	return errors.Join(take(), c.copies.Close())
}

// locate changes the places of runs in a text from words to bytes. A run ends before the next word. Only
// whole words are cut: where a script has no spaces, a word may have several tokens.
func (c *Cuts) locate(t *text, read *corpus.Text) error {
	var words dedup.Text
	words.Locate()
	words.ReadString(read.Doc.Text)
	if words.Len() != t.Words {
		return corpus.ErrChanged
	}
	inWord := func(i int) bool { return i > 0 && i < t.Words && words.Span(i) == words.Span(i-1) }
	for i := range t.Parts {
		p := &t.Parts[i]
		for p.Start < p.End && inWord(p.Start) {
			p.Start++
		}
		for p.Start < p.End && inWord(p.End) {
			p.End--
		}
		if p.Start == p.End {
			p.alike = 0
			continue
		}
		p.Start = words.Span(p.Start).Start
		if p.End < t.Words {
			p.End = words.Span(p.End).Start
		} else {
			p.End = len(read.Doc.Text)
		}
	}
	return nil
}
