package complete

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"skink/dedup"
	"skink/internal/output"
	"skink/store"
	"skink/store/disk"
)

// A sorter sorts rows of bytes that may not fit in memory. It sorts as many rows as fit, and writes
// them to a temporary file as a run. At the end it merges the runs. The zero sorter is empty.
type sorter struct {
	limit int    // maximum size of the rows in memory; 0 means sorterBytes
	rows  []byte // the rows in memory, one after the other
	at    []span // where each of them is
	file  *os.File
	done  func() error // closes and removes file
	runs  []int64      // end of each run in file
}

type span struct{ start, end uint32 }

// sorterBytes bounds the memory of a sorter, without the spans. The buffers for merging the runs take
// mergeBytes each.
const (
	sorterBytes = 32 << 20
	mergeBytes  = 16 << 10
)

// add adds a copy of a row.
func (s *sorter) add(row []byte) error {
	if len(s.rows)+len(row) > cmp.Or(s.limit, sorterBytes) && len(s.rows) > 0 {
		if err := s.spill(); err != nil {
			return fmt.Errorf("sort on disk: %w", err)
		}
	}
	start := len(s.rows)
	s.rows = append(s.rows, row...)
	s.at = append(s.at, span{uint32(start), uint32(len(s.rows))})
	return nil
}

func (s *sorter) row(at span) []byte { return s.rows[at.start:at.end] }

// sort sorts the rows in memory.
func (s *sorter) sort() {
	slices.SortFunc(s.at, func(a, b span) int { return bytes.Compare(s.row(a), s.row(b)) })
}

func (s *sorter) spill() (err error) {
	dir := disk.Space{Dir: os.TempDir()}
	if size := int64(len(s.rows) + binary.MaxVarintLen32*len(s.at)); !dir.HasRoom(size) {
		return fmt.Errorf("%s: %w: free some disk space, or set TMPDIR to a folder on a larger disk", dir.Dir, store.ErrFull)
	}
	if s.file == nil {
		if s.file, s.done, err = output.Temporary("skink-sort-"); err != nil {
			return err
		}
	}
	s.sort()
	out := bufio.NewWriter(s.file)
	for _, at := range s.at {
		out.Write(binary.AppendUvarint(out.AvailableBuffer(), uint64(at.end-at.start)))
		out.Write(s.row(at)) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		return err
	}
	end, err := s.file.Seek(0, io.SeekCurrent)
	s.runs, s.rows, s.at = append(s.runs, end), s.rows[:0], s.at[:0]
	return err
}

// close removes the temporary file.
func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	return s.done()
}

// sorted yields the rows in ascending order of their bytes. A row is valid until the next one.
// After sorted, the caller may iterate again, but must not add rows.
func (s *sorter) sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m, err := s.merge()
		for ; err == nil && len(m) > 0; err = m.advance() {
			if !yield(m[0].row, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, fmt.Errorf("sort on disk: %w", err))
		}
	}
}

// from yields the rows from that of a text on. Rows begin as those of package dedup.
func (s *sorter) from(ctx context.Context, text int32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for row, err := range s.sorted() {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				yield(nil, err)
				return
			}
			if dedup.TextOf(row) >= text && !yield(row, nil) {
				return
			}
		}
	}
}

func (s *sorter) merge() (merging, error) {
	s.sort()
	left := s.at
	m := merging{{next: func([]byte) ([]byte, error) {
		if len(left) == 0 {
			return nil, io.EOF
		}
		row := s.row(left[0])
		left = left[1:]
		return row, nil
	}}}
	start := int64(0)
	for _, end := range s.runs {
		in := bufio.NewReaderSize(io.NewSectionReader(s.file, start, end-start), mergeBytes)
		m = append(m, &source{next: func(buffer []byte) ([]byte, error) { return readRow(in, buffer) }})
		start = end
	}
	for _, from := range m {
		var err error
		if from.row, err = from.next(nil); err != nil && err != io.EOF {
			return nil, err
		}
	}
	m = slices.DeleteFunc(m, func(from *source) bool { return from.row == nil })
	heap.Init(&m)
	return m, nil
}

func readRow(in *bufio.Reader, buffer []byte) ([]byte, error) {
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	row := slices.Grow(buffer[:0], int(size))[:size]
	_, err = io.ReadFull(in, row)
	return row, err
}

// A merging is a heap of the sources that still have rows, the one with the lowest row first.
type merging []*source

type source struct {
	row  []byte
	next func(buffer []byte) ([]byte, error)
}

func (m *merging) advance() (err error) {
	first := (*m)[0]
	switch first.row, err = first.next(first.row); err {
	case nil:
		heap.Fix(m, 0)
	case io.EOF:
		heap.Pop(m)
		err = nil
	}
	return err
}

func (m merging) Len() int           { return len(m) }
func (m merging) Less(i, k int) bool { return bytes.Compare(m[i].row, m[k].row) < 0 }
func (m merging) Swap(i, k int)      { m[i], m[k] = m[k], m[i] }
func (m *merging) Push(x any)        { *m = append(*m, x.(*source)) }

func (m *merging) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// appendText appends a text to a row, so that rows are in the order of their texts whatever follows.
// A zero byte ends the text, and 0xFF after it marks a zero byte of the text itself.
func appendText(row []byte, text string) []byte {
	for i := range len(text) {
		if row = append(row, text[i]); text[i] == 0 {
			row = append(row, 0xFF)
		}
	}
	return append(row, 0, 1)
}

// cutText is the inverse of appendText.
func cutText(row []byte) (text string, rest []byte) {
	end := bytes.Index(row, []byte{0, 1})
	return string(bytes.ReplaceAll(row[:end], []byte{0, 0xFF}, []byte{0})), row[end+2:]
}
