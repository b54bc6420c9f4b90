package within

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"skink/dedup"
	"skink/extract/passage"
	"skink/internal/corpus"
	"skink/internal/output"
	"skink/store"
	"skink/store/precedence"
)

// A Unit says how texts are divided into parts.
type Unit string

const (
	// Paragraph divides at blank lines. If a text has none, its lines are paragraphs, such as those of a page.
	Paragraph Unit = "paragraph"
	Line      Unit = "line"
	// Sentence divides paragraphs at the ends of sentences; see [passage.Sentences].
	Sentence Unit = "sentence"
	// Run finds all copies of enough consecutive words, wherever they begin and end.
	Run Unit = "run"
)

// DefaultPart is the default of the minimum length of a paragraph, a line or a sentence, in words. Most headings
// and names have fewer.
const DefaultPart = 10

// starts returns the places of a text at which its parts begin, in ascending order. The first is 0.
func (u Unit) starts(text string) []int {
	lines, paragraphs := []int{0}, []int{0}
	at, begun, blank := 0, false, false
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			blank = begun
		} else {
			if begun {
				lines = append(lines, at)
			}
			if blank {
				paragraphs = append(paragraphs, at)
			}
			begun, blank = true, false
		}
		at += len(line)
	}
	if u == Line || len(paragraphs) == 1 {
		paragraphs = lines
	}
	if u != Sentence {
		return paragraphs
	}
	sentences, paragraphs := []int{0}, append(paragraphs, len(text))
	for i, begin := range paragraphs[:len(paragraphs)-1] {
		for at := range passage.Sentences(text[begin:paragraphs[i+1]]) {
			if begin+at > 0 {
				sentences = append(sentences, begin+at)
			}
		}
	}
	return sentences
}

// A text is what is kept of a record between the first reading and the second. Its exported fields are
// in a temporary file.
type text struct {
	Num   int    // [corpus.Record.Num]
	Name  string // [corpus.Text.URL]
	Plain bool   // if nothing is removed, the record is written as it is
	Words int    // of all parts
	Parts []part // those with enough words; with runs, those that are gone

	Withheld uint8 // see [precedence.Withheld]

	verdict string   // "" if the text has no words
	words   []uint64 // with runs, the hash of each word
}

// A part is a part of a text with enough words to be removed.
type part struct {
	Start, End int // in bytes; those of a run are in words before the text is cut
	Words      int

	hash  dedup.Hash // of the canonical text
	set   dedup.Set  // shingles
	alike float64    // resemblance to the first occurrence, or exact; 0 if the part stays
	first string     // name of the text with the first occurrence
}

// size returns how many numbers the parts of a text take, or its words.
func (t *text) size(unit Unit) int {
	if unit == Run {
		return t.Words + 1
	}
	return len(t.Parts)
}

var canons = sync.Pool{New: func() any { return new(dedup.Text) }}

// measure divides the text of a record.
func (c *Cuts) measure(r *corpus.Record, read *corpus.Text) *text {
	t := &text{Num: r.Num, Name: read.URL, Plain: r.Cuttable(read) && read.Plain()}
	if read.Doc == nil {
		return t
	}
	t.Withheld = uint8(precedence.Withheld(&store.Record{NoIndex: read.Doc.NoIndex, Private: read.Private}))
	canon := canons.Get().(*dedup.Text)
	defer canons.Put(canon)
	whole := read.Doc.Text
	if c.opt.Unit == Run {
		canon.ReadString(whole)
		t.Words, t.words = canon.Len(), slices.Clone(canon.Numbers())
		c.mark(t.words)
		return t
	}
	starts := append(c.opt.Unit.starts(whole), len(whole))
	for i := 1; i < len(starts); i++ {
		p := part{Start: starts[i-1], End: starts[i]}
		canon.ReadString(whole[p.Start:p.End])
		p.Words = canon.Len()
		t.Words += p.Words
		if p.Words >= c.opt.Words {
			p.hash, p.set = canon.Hash(), c.opt.Rule.Set(canon)
			t.Parts = append(t.Parts, p)
		}
	}
	return t
}

// A spool is a temporary file that is written once and then read. It has texts or numbers.
type spool struct {
	file *os.File
	done func() error // closes and removes the file
	out  *bufio.Writer
	code *gob.Encoder
}

func (s *spool) open() (err error) {
	if s.file, s.done, err = output.Temporary("skink-within-"); err != nil {
		return fmt.Errorf("create a temporary file: %w", err)
	}
	s.out = bufio.NewWriter(s.file)
	s.code = gob.NewEncoder(s.out)
	return nil
}

func (s *spool) close() error {
	if s.done == nil {
		return nil
	}
	done := s.done
	s.done = nil
	return done()
}

func (s *spool) add(numbers ...uint64) (err error) {
	for _, n := range numbers {
		_, err = s.out.Write(binary.LittleEndian.AppendUint64(s.out.AvailableBuffer(), n))
	}
	return err
}

// reader returns a reader of the numbers from the given one on.
func (s *spool) reader(from uint64) io.Reader {
	return io.NewSectionReader(s.file, 8*int64(from), math.MaxInt64-8*int64(from))
}

func (s *spool) texts() iter.Seq2[*text, error] {
	return func(yield func(*text, error) bool) {
		in := gob.NewDecoder(bufio.NewReader(s.reader(0)))
		for {
			t := new(text)
			if err := in.Decode(t); errors.Is(err, io.EOF) || !yield(t, err) || err != nil {
				return
			}
		}
	}
}
