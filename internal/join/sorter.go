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
	"skink/internal/output"
	"skink/store"
	"skink/store/disk"
)

// A Sorter sorts rows of bytes that may not fit in memory. It collects as many rows as fit, and sorts and
// writes them to a temporary file as a run, while it collects more. At the end it merges the runs. The zero
// Sorter is empty.
type Sorter struct {
	block
	limit   int // maximum size of the rows in a block; 0 means sorterBytes
	file    *os.File
	done    func() error // closes and removes file
	runs    []int64      // end of each run in file
	writing chan written // gets the result of the run that is being written; nil if none is
	failed  error        // of writing a run
}

// A block has rows in memory.
type block struct {
	rows []byte // one after the other
	at   []span // where each of them is
}

type span struct {
	prefix     uint64 // see prefixOf
	start, end uint32
}

// A written run leaves an empty block, whose memory is used again.
type written struct {
	block
	end int64 // in the file
	err error
}

// prefixOf returns the first 8 bytes of a row, as a number. Most rows differ in them, and numbers are compared
// faster than bytes.
func prefixOf(row []byte) uint64 {
	if len(row) < 8 {
		row = append(slices.Clone(row), make([]byte, 8-len(row))...)
	}
	return binary.BigEndian.Uint64(row)
}

// sorterBytes bounds the memory of a block, without the spans. A Sorter has two. The buffers for merging the
// runs take mergeBytes each.
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
	s.at = append(s.at, span{prefixOf(row), uint32(start), uint32(len(s.rows))})
	return nil
}

func (b *block) row(at span) []byte { return b.rows[at.start:at.end] }

func (b *block) sort() {
	slices.SortFunc(b.at, func(x, y span) int {
		if x.prefix != y.prefix {
			return cmp.Compare(x.prefix, y.prefix)
		}
		return bytes.Compare(b.row(x), b.row(y))
	})
}

// spill writes the rows in memory as a run. It returns the error of the run before.
func (s *Sorter) spill() (err error) {
	free, err := s.wait()
	if err != nil {
		return err
	}
	dir := disk.Space{Dir: os.TempDir()}
	if size := int64(len(s.rows) + binary.MaxVarintLen32*len(s.at)); !dir.HasRoom(size) {
		return fmt.Errorf("%s: %w: free some disk space, or set TMPDIR to a folder on a larger disk", dir.Dir, store.ErrFull)
	}
	if s.file == nil {
		if s.file, s.done, err = output.Temporary("skink-sort-"); err != nil {
			return err
		}
	}
	full := s.block
	s.block, s.writing = free, make(chan written, 1)
	go func(file *os.File, to chan<- written) {
		end, err := full.writeTo(file)
		to <- written{block{full.rows[:0], full.at[:0]}, end, err}
	}(s.file, s.writing)
	return nil
}

// writeTo sorts the rows and appends them to a file, whose end it returns.
func (b *block) writeTo(file *os.File) (end int64, err error) {
	b.sort()
	out := bufio.NewWriter(file)
	for _, at := range b.at {
		out.Write(binary.AppendUvarint(out.AvailableBuffer(), uint64(at.end-at.start)))
		out.Write(b.row(at)) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return file.Seek(0, io.SeekCurrent)
}

// wait waits until the run that is being written is in the file. It returns an empty block, and the error of
// any run so far.
func (s *Sorter) wait() (free block, err error) {
	if s.writing != nil {
		w := <-s.writing
		s.writing, s.runs, s.failed, free = nil, append(s.runs, w.end), w.err, w.block
	}
	return free, s.failed
}

// Size returns the size of all rows in bytes.
func (s *Sorter) Size() int {
	_, _ = s.wait() // Sorted yields the error
	size := len(s.rows)
	if n := len(s.runs); n > 0 {
		size += int(s.runs[n-1])
	}
	return size
}

// Close removes the rows and the temporary file.
func (s *Sorter) Close() error {
	_, _ = s.wait() // Sorted yields the error, and nobody needs the rows any more
	s.block = block{}
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
		if _, err := s.wait(); err != nil {
			yield(nil, fmt.Errorf("sort on disk: %w", err))
			return
		}
		queue := priority.New((*source).less, func(a *source) *priority.Spot[*source] { return &a.spot })
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

// From yields the rows from that of a text on. Rows begin as those of [Entry.AppendRow].
func (s *Sorter) From(ctx context.Context, text int32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for row, err := range s.Sorted() {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				yield(nil, err)
				return
			}
			if TextOf(row) >= text && !yield(row, nil) {
				return
			}
		}
	}
}

// A source is a run whose rows are being merged, or the rows in memory.
type source struct {
	row    []byte                              // the next row
	prefix uint64                              // its prefix
	next   func(buffer []byte) ([]byte, error) // reads a row, into buffer if that is large enough
	spot   priority.Spot[*source]
}

func (from *source) less(b *source) bool {
	return from.prefix < b.prefix || from.prefix == b.prefix && bytes.Compare(from.row, b.row) < 0
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
		from.prefix = prefixOf(from.row)
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
