package cli

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"skink/dedup"
	"skink/internal/complete"
	"skink/internal/corpus"
	"skink/store"
)

// # The longest is kept
//
// Which text of a cluster is the longest is known only when all are read. So a corpus whose records
// are to be written is read twice: once to judge it, and once to write it. In between, a temporary
// file holds which record became which page. That is some bytes for each record, too much memory
// for a large corpus.

// A noted record is one that was judged, by its place among all and the id of its page.
type noted struct {
	Num  uint64
	Page dedup.Hash
}

// notes are the noted records, in their order, in a temporary file.
type notes struct {
	file *os.File
	out  *bufio.Writer
}

func newNotes() (*notes, error) {
	f, err := os.CreateTemp("", "skink-dedup-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return &notes{f, bufio.NewWriter(f)}, nil
}

func (n *notes) close() error { return errors.Join(n.file.Close(), os.Remove(n.file.Name())) }

func (n *notes) take(r *corpus.Record, page *store.Record) error {
	return binary.Write(n.out, binary.LittleEndian, noted{uint64(r.Num), page.ID})
}

// each calls do with each of the notes.
func (n *notes) each(do func(noted) error) error {
	if err := n.out.Flush(); err != nil {
		return err
	}
	if _, err := n.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(n.file)
	for {
		var one noted
		switch err := binary.Read(in, binary.LittleEndian, &one); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := do(one); err != nil {
			return err
		}
	}
}

// keepLongest judges as a whole the texts that were read, and writes their records.
func (d *dedupRun) keepLongest(ctx context.Context, s store.Reader, rule dedup.Rule, in *corpus.Inputs, n *notes, out *corpusOut) (err error) {
	d.whole, err = complete.Judge(ctx, s, complete.Options{Rule: rule, WholeText: true, Longest: true})
	if err != nil || !d.records.given() {
		return err
	}
	again := &secondReading{ctx: ctx, whole: d.whole, out: out}
	next, stop := iter.Pull2(in.Again().Records(ctx))
	defer stop()
	err = n.each(func(one noted) error {
		for {
			r, err, more := next()
			if err != nil {
				return err
			}
			if !more || uint64(r.Num) > one.Num {
				return errors.New("read the files again: they are not what they were: leave them alone until this ends")
			}
			if uint64(r.Num) == one.Num { // the records before it were bad
				return again.take(r, one.Page)
			}
		}
	})
	if err != nil {
		return err
	}
	return again.flush()
}

// A secondReading writes records that are read again, and asks for the pages of many at once.
type secondReading struct {
	ctx     context.Context
	whole   *complete.Whole
	out     *corpusOut
	records []*corpus.Record
	pages   []dedup.Hash
}

func (s *secondReading) take(r *corpus.Record, page dedup.Hash) error {
	s.records, s.pages = append(s.records, r), append(s.pages, page)
	if len(s.records) < 64 {
		return nil
	}
	return s.flush()
}

func (s *secondReading) flush() error {
	found, err := s.whole.Pages(s.ctx, s.pages, store.WantRecord)
	if err != nil {
		return err
	}
	for i, r := range s.records {
		if found[i] == nil {
			return fmt.Errorf("record of %s: %w", r.Place(), store.ErrCorrupt)
		}
		if err := s.out.take(r, &found[i].Record); err != nil {
			return err
		}
	}
	s.records, s.pages = s.records[:0], s.pages[:0]
	return nil
}

// readTwice refuses inputs that can be read once only.
func readTwice(paths []string) error {
	if slices.Contains(paths, "-") {
		return usagef("--keep longest reads twice what it writes with --unique and --duplicates: name files instead of -")
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return usagef("--keep longest reads twice what it writes with --unique and --duplicates, and %s is no file", path)
		}
	}
	return nil
}
