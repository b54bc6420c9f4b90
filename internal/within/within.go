// Package within finds the parts of texts, such as paragraphs or runs of words, that occur before in a corpus,
// and removes them. [Find] reads the corpus once, and [Cuts.Write] reads it again and writes what is left.
//
// # How parts are found
//
// A text is divided into parts: paragraphs, lines or sentences. White space after a part belongs to it, so
// the parts together are the text. Parts with few words, such as headings, stay. The other parts of the
// corpus are numbered in its order. A part is exact if an earlier part has the same canonical text. The
// remaining parts are clustered as texts are with --keep first, but exactly: in their order, a part that is
// in no cluster leads one, which gets all later parts that resemble it enough. A part of a record never
// leads one of a record that is withheld less, because an output might then contain neither. Runs are found
// in another way; see runs.go.
//
// Nothing that grows with the corpus is in memory, but a byte for each part. Temporary files have the places
// of the parts, and their shingles. Hashes, pairs and names are sorted on disk, so all files are read from
// the beginning to the end. Only pairs of the join are looked up.
//
// Known weaknesses: a part that only a dropped record has first is removed from later texts, too. A text of
// one line for each sentence has other paragraphs than the same text with blank lines.
package within

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/internal/join"
	"skink/store/precedence"
)

// Options select the parts of texts that are removed.
type Options struct {
	Unit      Unit
	Rule      dedup.Rule         // a part is near if its resemblance to an earlier one is at least the similarity
	Words     int                // minimum number of words of a part that may be removed; 0 means DefaultPart, or DefaultRun
	Left      float64            // a record goes if less than this share of its words is left, 0 to 1, or if none is
	Memory    int64              // memory of the process in bytes, about which the run tries to stay
	Documents *document.Reader   // reads PDF and other documents; may be nil
	InPlace   bool               // refuse records that can only be written as JSON lines; see [corpus.Record.Cuttable]
	Files     ingest.FileOptions // all but Judged, none of which may be nil
}

// A Count is a number of parts, and of their words.
type Count struct {
	Parts int `json:"parts"`
	Words int `json:"words"`
}

// A Tally counts the texts of a corpus, and their parts with enough words.
type Tally struct {
	Unique  int   `json:"unique"` // texts of which nothing is removed
	Cut     int   `json:"cut"`    // texts that are kept without some of their parts
	Dropped int   `json:"dropped"`
	NoText  int   `json:"no_text"` // records without words
	Kept    Count `json:"kept"`
	Exact   Count `json:"exact"`
	Near    Count `json:"near"`
}

// Cuts are the parts of a corpus that occur before. Close them to remove the temporary files.
type Cuts struct {
	Tally Tally

	opt      Options
	in       *corpus.Inputs
	ask      extract.Options // how texts are read
	repeated *filter         // with runs
	state    []uint8         // for each part, how far it is withheld, and whether it is gone; none with runs
	shingles int             // of all parts
	texts    spool           // each text
	sets     spool           // the shingles of each part, or the hashes of all words
	ends     spool           // for each part, the number of shingles up to its last
	hashes   join.Sorter     // hash of a part or window, its number, and how far it is withheld
	copies   join.Sorter     // numbers of a window that occurs before, and of the first one
	pairs    join.Sorter     // numbers of an earlier part and one that is gone, and their resemblance; or the length of a run
	gone     join.Sorter     // a pair without its first number, but with the name of the text that has the first occurrence
}

const goneBit = 0x80

// partBytes is the memory for a part, in a growing slice.
const partBytes = 2

// Find reads a corpus and finds the parts that occur before.
func Find(ctx context.Context, in *corpus.Inputs, opt Options) (*Cuts, error) {
	c := &Cuts{opt: opt, in: in, ask: extract.Options{Verbatim: true, SkipLang: true}}
	steps := []func(context.Context) error{c.read, c.findExact, c.findNear, c.name, c.count}
	c.opt.Words = cmp.Or(opt.Words, DefaultPart)
	if opt.Unit == Run {
		c.opt.Words = cmp.Or(opt.Words, DefaultRun)
		c.repeated = newFilter(opt.Memory / 8)
		steps = []func(context.Context) error{c.read, c.findWindows, c.findExact, c.chain, c.name, c.count}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Close removes the temporary files.
func (c *Cuts) Close() error {
	return errors.Join(c.hashes.Close(), c.copies.Close(), c.pairs.Close(), c.gone.Close(), c.texts.close(), c.sets.close(), c.ends.close())
}

func (c *Cuts) read(ctx context.Context) error {
	if err := cmp.Or(c.texts.open(), c.sets.open(), c.ends.open()); err != nil {
		return err
	}
	err := ingest.EachRecord(ctx, c.in.Records(ctx), c.opt.Documents, c.opt.Memory, func(ctx context.Context, r *corpus.Record) (func() error, error) {
		t, err := ingest.TextOf(ctx, r, c.ask)
		if passed, is := errors.AsType[*corpus.PassedError](err); is { // such an error is also a BadError
			return func() error { c.opt.Files.Passed(passed.Kind); return nil }, nil
		}
		if bad, is := errors.AsType[*corpus.BadError](err); is {
			return func() error { return c.opt.Files.Bad(bad) }, nil
		}
		if err != nil {
			return nil, err
		}
		if c.opt.InPlace && !r.Cuttable(&t) {
			return nil, fmt.Errorf("%s cannot be cut in its format: write its text as a JSON line, with --unique instead of --out-dir", r.Place())
		}
		one := c.measure(r, &t)
		r.Drop()
		return func() error {
			if t.Doc != nil && t.Doc.Missing > 0 {
				c.opt.Files.Lacks(r.Place(), document.Incomplete(t.Doc))
			}
			return c.add(one)
		}, nil
	})
	return cmp.Or(err, c.texts.out.Flush(), c.sets.out.Flush(), c.ends.out.Flush()) // a full disk fails all of them
}

func (c *Cuts) add(t *text) error {
	if err := c.texts.code.Encode(t); err != nil {
		return err
	}
	if c.opt.Unit == Run {
		return c.sets.add(t.words...)
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		if len(c.state) == math.MaxInt32 {
			return fmt.Errorf("the corpus has more than %d parts: use a larger --within-words, or fewer files at a time", math.MaxInt32)
		}
		if err := c.addHash(p.hash, uint64(len(c.state)), t.Withheld); err != nil {
			return err
		}
		c.state, c.shingles = append(c.state, t.Withheld), c.shingles+len(p.set)
		if err := errors.Join(c.sets.add(p.set...), c.ends.add(uint64(c.shingles))); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cuts) addHash(hash dedup.Hash, num uint64, withheld uint8) error {
	return c.hashes.Add(append(binary.BigEndian.AppendUint64(hash[:], num), withheld))
}

// findExact finds the parts that have the same canonical text as an earlier one, and the windows.
func (c *Cuts) findExact(context.Context) error {
	var hash dedup.Hash
	const none = math.MaxUint64
	var first [precedence.MostWithheld + 1]uint64 // the first part with the hash that is withheld so far
	for row, err := range c.hashes.Sorted() {
		if err != nil {
			return err
		}
		if now := dedup.Hash(row[:len(hash)]); now != hash {
			hash, first = now, [len(first)]uint64{none, none, none, none}
		}
		num, withheld := binary.BigEndian.Uint64(row[len(hash):]), row[len(row)-1]
		switch leader := slices.Min(first[:withheld+1]); {
		case leader == none:
			first[withheld] = num
		case c.opt.Unit == Run:
			err = c.takeWindow(leader, num)
		default:
			err = c.take(int32(leader), int32(num), exact)
		}
		if err != nil {
			return err
		}
	}
	return c.hashes.Close()
}

// exact is the resemblance of parts with the same words in a pair. It marks them.
const exact = 2

// take records that the part b is gone because of a, which is earlier.
func (c *Cuts) take(a, b int32, resemblance float64) error {
	c.state[b] |= goneBit
	row := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(a)), uint64(b))
	return c.pairs.Add(binary.BigEndian.AppendUint64(row, math.Float64bits(resemblance)))
}

func (c *Cuts) findNear(ctx context.Context) error {
	least := c.opt.Rule.Similarity
	m := join.Matcher{Source: &source{c, join.NewCache()}, Shingles: c.shingles, Least: least, Room: join.Room(c.opt.Memory, partBytes*len(c.state))}
	m.From = func(i int32) float64 {
		if c.state[i]&goneBit != 0 {
			return join.Nowhere
		}
		return least
	}
	m.Take = func(a, b int32, resemblance float64) error {
		if c.state[a] > c.state[b] { // a is withheld more
			return nil
		}
		return c.take(a, b, resemblance)
	}
	return m.Run(ctx, 0)
}

// name adds the name of the text with the earlier part to each pair.
func (c *Cuts) name(ctx context.Context) error {
	next, stop := iter.Pull2(c.texts.texts())
	defer stop()
	var t *text
	end := uint64(0)
	for row, err := range c.pairs.Sorted() {
		for err == nil && binary.BigEndian.Uint64(row) >= end {
			if t, err, _ = next(); err == nil {
				end += uint64(t.size(c.opt.Unit))
			}
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if err := c.gone.Add(append(slices.Clone(row[8:]), t.Name...)); err != nil {
			return err
		}
	}
	return c.pairs.Close()
}

// all yields all texts with their verdicts and the parts that are gone.
func (c *Cuts) all() iter.Seq2[*text, error] {
	return func(yield func(*text, error) bool) {
		next, stop := iter.Pull2(c.gone.Sorted())
		defer stop()
		row, err, more := next()
		end := uint64(0)
		for t, failed := range c.texts.texts() {
			if failed != nil {
				yield(nil, failed)
				return
			}
			begin := end
			end += uint64(t.size(c.opt.Unit))
			for more && err == nil && binary.BigEndian.Uint64(row) < end {
				i, value, name := int(binary.BigEndian.Uint64(row)-begin), binary.BigEndian.Uint64(row[8:]), string(row[16:])
				if c.opt.Unit == Run {
					t.Parts = append(t.Parts, part{Start: i, End: i + int(value), Words: int(value), alike: exact, first: name})
				} else {
					t.Parts[i].alike, t.Parts[i].first = math.Float64frombits(value), name
				}
				row, err, more = next()
			}
			if t.judge(c.opt.Left); !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// left returns how many words of a text are left.
func (t *text) left() int {
	left := t.Words
	for _, p := range t.Parts {
		if p.alike > 0 {
			left -= p.Words
		}
	}
	return left
}

// judge sets the verdict of a text.
func (t *text) judge(least float64) {
	switch left := t.left(); {
	case t.Words == 0:
	case left == 0, float64(left) < least*float64(t.Words):
		t.verdict = Dropped
	case left < t.Words:
		t.verdict = Cut
	default:
		t.verdict = string(dedup.Unique)
	}
}

func (c *Cuts) count(context.Context) error {
	n := &c.Tally
	texts := map[string]*int{"": &n.NoText, string(dedup.Unique): &n.Unique, Cut: &n.Cut, Dropped: &n.Dropped}
	for t, err := range c.all() {
		if err != nil {
			return err
		}
		*texts[t.verdict]++
		if c.opt.Unit == Run {
			n.Kept.Words += t.left()
		}
		for _, p := range t.Parts {
			to := &n.Kept
			if p.alike == exact {
				to = &n.Exact
			} else if p.alike > 0 {
				to = &n.Near
			}
			to.Parts, to.Words = to.Parts+1, to.Words+p.Words
		}
	}
	return nil
}

// A source has the shingles of the parts that are not exact copies.
type source struct {
	*Cuts
	kept *join.Cache
}

func (s *source) Each(ctx context.Context, take func(int32, dedup.Set) error) error {
	ends, sets := bufio.NewReader(s.ends.reader(0)), bufio.NewReader(s.sets.reader(0))
	var row []byte
	var set []uint64
	read := func(from io.Reader, n uint64) error {
		row, set = slices.Grow(row[:0], int(8*n))[:8*n], slices.Grow(set[:0], int(n))[:n]
		_, err := io.ReadFull(from, row)
		binary.Decode(row, binary.LittleEndian, set)
		return err
	}
	start := uint64(0)
	for i, state := range s.state {
		err := read(ends, 1)
		n := set[0] - start
		start = set[0]
		if err == nil && state&goneBit != 0 {
			_, err = sets.Discard(int(8 * n))
		} else if err == nil {
			if err = read(sets, n); err == nil {
				err = take(int32(i), set)
			}
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) Set(_ context.Context, i int32) (dedup.Set, error) {
	if set, ok := s.kept.Get(i); ok {
		return set, nil
	}
	place := [2]uint64{}
	at := place[min(1, max(0, 1-int(i))):] // the first set begins at 0
	if err := binary.Read(s.ends.reader(uint64(max(i-1, 0))), binary.LittleEndian, at); err != nil {
		return nil, err
	}
	set := make([]uint64, place[1]-place[0])
	if err := binary.Read(s.sets.reader(place[0]), binary.LittleEndian, set); err != nil {
		return nil, err
	}
	s.kept.Put(i, set)
	return set, nil
}

// The verdicts of records, beside [dedup.Unique] for one of which nothing is removed.
const (
	Cut     = "cut"     // parts of the text are removed
	Dropped = "dropped" // so much would be removed that the record goes
)

// Write reads the corpus again and calls take with each record, in order. A record that is kept has the
// text that is left, and another one its whole text. The note of a record without words has no verdict.
func (c *Cuts) Write(ctx context.Context, take func(r *corpus.Record, note corpus.Note, kept bool) error) error {
	var waiting sync.Map // texts by the numbers of records that are being cut
	records := func(yield func(*corpus.Record, error) bool) {
		find, stop := c.in.Second(ctx)
		defer stop()
		for t, err := range c.all() {
			var r *corpus.Record
			if err == nil {
				waiting.Store(t.Num, t)
				r, err = find(t.Num)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
	return ingest.EachRecord(ctx, records, c.opt.Documents, c.opt.Memory, func(ctx context.Context, r *corpus.Record) (func() error, error) {
		t, _ := waiting.LoadAndDelete(r.Num)
		one, note, err := c.cut(ctx, r, t.(*text))
		return func() error { return take(one, note, note.Verdict != Dropped) }, err
	})
}

// cut returns a record with the text that is left, and its note.
func (c *Cuts) cut(ctx context.Context, r *corpus.Record, t *text) (*corpus.Record, corpus.Note, error) {
	note := corpus.Note{Verdict: t.verdict}
	if t.Plain && t.verdict != Cut && t.verdict != Dropped {
		return r, note, nil
	}
	read, err := ingest.TextOf(ctx, r, c.ask)
	if err != nil {
		return nil, note, err
	}
	whole := ""
	if read.Doc != nil {
		whole = read.Doc.Text
	}
	if c.opt.Unit == Run && t.Parts != nil {
		if read.Doc == nil {
			return nil, note, corpus.ErrChanged
		}
		if err := c.locate(t, &read); err != nil {
			return nil, note, err
		}
	}
	var left strings.Builder
	at, chars := 0, 0
	for _, p := range t.Parts {
		switch {
		case p.End > len(whole):
			return nil, note, corpus.ErrChanged
		case p.alike == 0:
			continue
		}
		left.WriteString(whole[at:p.Start])
		start := chars + utf8.RuneCountInString(whole[at:p.Start])
		at, chars = p.End, start+utf8.RuneCountInString(whole[p.Start:p.End])
		note.Removed = append(note.Removed, corpus.Part{Start: start, End: chars, First: p.first, Resemblance: min(p.alike, 1)})
	}
	left.WriteString(whole[at:])
	if t.verdict != Dropped {
		r, err = r.WithText(&read, left.String())
	} else if !t.Plain {
		r, err = r.WithText(&read, whole)
	}
	return r, note, err
}
