package join

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"skink/base/priority"
	"skink/dedup"
	"skink/internal/output"
	"skink/store"
	"skink/store/disk"
)

// A Sorter sorts rows of bytes that may not fit in memory. It sorts as many rows as fit, and writes
// them to a temporary file as a run. At the end it merges the runs. The zero Sorter is empty.
type Sorter struct {
	limit int    // maximum size of the rows in memory; 0 means sorterBytes
	rows  []byte // the rows in memory, one after the other
	at    []span // where each of them is
	file  *os.File
	done  func() error // closes and removes file
	runs  []int64      // end of each run in file
}

type span struct{ start, end uint32 }

// sorterBytes bounds the memory of a Sorter, without the spans. The buffers for merging the runs take
// mergeBytes each.
const (
	sorterBytes = 16 << 20
	mergeBytes  = 16 << 10
)

// Add adds a copy of a row.
func (s *Sorter) Add(row []byte) error {
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

func (s *Sorter) row(at span) []byte { return s.rows[at.start:at.end] }

// sort sorts the rows in memory.
func (s *Sorter) sort() {
	slices.SortFunc(s.at, func(a, b span) int { return bytes.Compare(s.row(a), s.row(b)) })
}

func (s *Sorter) spill() (err error) {
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

// Size returns the size of all rows in bytes.
func (s *Sorter) Size() int {
	size := len(s.rows)
	if n := len(s.runs); n > 0 {
		size += int(s.runs[n-1])
	}
	return size
}

// Close removes the rows and the temporary file.
func (s *Sorter) Close() error {
	s.rows, s.at = nil, nil
	if s.file == nil {
		return nil
	}
	s.file = nil
	return s.done()
}

// Sorted yields the rows in ascending order of their bytes. A row is valid until the next one.
// After Sorted, the caller may iterate again, but must not add rows.
func (s *Sorter) Sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		queue := priority.New(func(a, b *source) bool { return bytes.Compare(a.row, b.row) < 0 }, func(a *source) *priority.Spot[*source] { return &a.spot })
		for _, from := range s.sources() {
			if err := from.advance(queue); err != nil {
				yield(nil, err)
				return
			}
		}
		for queue.Len() > 0 {
			from := queue.First()
			if !yield(from.row, nil) {
				return
			}
			if err := from.advance(queue); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// From yields the rows from that of a text on. Rows begin as those of package dedup.
func (s *Sorter) From(ctx context.Context, text int32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for row, err := range s.Sorted() {
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

// A source is a run whose rows are being merged, or the rows in memory.
type source struct {
	row  []byte                              // the next row
	next func(buffer []byte) ([]byte, error) // reads a row, into buffer if that is large enough
	spot priority.Spot[*source]
}

func (s *Sorter) sources() []*source {
	s.sort()
	left := s.at
	all := []*source{{next: func([]byte) ([]byte, error) {
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
		all = append(all, &source{next: func(buffer []byte) ([]byte, error) { return readRow(in, buffer) }})
		start = end
	}
	return all
}

// advance reads the next row of a source, and moves the source to its place in a queue.
func (from *source) advance(queue *priority.Queue[*source]) (err error) {
	switch from.row, err = from.next(from.row); err {
	case nil:
		queue.Put(from)
	case io.EOF:
		from.spot.Leave()
	default:
		return fmt.Errorf("sort on disk: %w", err)
	}
	return nil
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

// AppendText appends a text to a row, so that rows are in the order of their texts whatever follows.
// A zero byte ends the text, and 0xFF after it marks a zero byte of the text itself.
func AppendText(row []byte, text string) []byte {
	for i := range len(text) {
		if row = append(row, text[i]); text[i] == 0 {
			row = append(row, 0xFF)
		}
	}
	return append(row, 0, 1)
}

// CutText is the inverse of AppendText.
func CutText(row []byte) (text string, rest []byte) {
	end := bytes.Index(row, []byte{0, 1})
	return string(bytes.ReplaceAll(row[:end], []byte{0, 0xFF}, []byte{0})), row[end+2:]
}
