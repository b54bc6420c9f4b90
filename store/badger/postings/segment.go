package postings

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sort"
	"sync"

	"skink/internal/field"
	"skink/store"
)

// # A segment
//
// A segment is a file of postings, sorted by key and then by number. It never changes after the
// manifest names it. Integers are little-endian, varints are as in encoding/binary, and checks are
// CRC-32C.
//
//	blocks    of up to blockPostings each: for every posting the varint of its
//	          key's distance from the one before (for the first: from the block's
//	          first key, so 0), then the varint of its number, or of the distance
//	          to the number before if the key is the same; then the check of all
//	          that, 4 bytes
//	fences    for each block its first key and where it starts, 8 bytes each
//	filter    the words of a [bloom] of all keys, 8 bytes each
//	foot      32 bytes: where the fences start (8), postings (8), blocks (4),
//	          blocks of the filter (4), the check of fences, filter and this (4),
//	          "skPS"
//
// Fences and filter are kept in memory. So looking up an absent key costs one cache line, and a
// present key costs one read of some 1.2 KB, whatever the segment's size. A posting takes 9 to 10
// bytes of disk, and 13 to 17 bits of memory.
type segment struct {
	file     *os.File
	id       uint64
	level    int
	readOnly bool // the file is not removed even if it is damaged
	postings int
	fences   []fence // one for each block, and one for the end of the last block
	filter   bloom
}

type fence struct {
	key   uint64
	start uint64
}

const (
	blockPostings = 128 // postings in a block: larger blocks take longer to search, smaller ones need more fences in memory
	footSize      = 32
	segmentMagic  = "skPS"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// filterBits returns the number of bits for each posting in the filter of a segment that has the
// given number of postings. Large segments get fewer bits, because they take most of the memory.
// Small segments get more, because there are many of them, and each false hit of a filter costs a
// read.
func filterBits(postings int) int {
	if postings > 8<<20 {
		return 12
	}
	return 16
}

// A segmentWriter writes postings in ascending order.
type segmentWriter struct {
	file   *os.File
	out    *bufio.Writer
	err    error
	s      segment
	block  []byte
	n      int     // number of postings in block
	last   posting // the last posting in block
	offset uint64  // offset at which block will begin in the file
}

// newSegmentWriter creates a segment file with the given path. The argument postings is the
// greatest number of postings that may be added. The size of the filter depends on it.
func newSegmentWriter(name string, postings int) (*segmentWriter, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &segmentWriter{
		file: f,
		out:  bufio.NewWriterSize(f, 256<<10),
		s:    segment{filter: newBloom(postings, filterBits(postings))},
	}, nil
}

func (w *segmentWriter) add(p posting) error {
	if w.n == blockPostings {
		w.endBlock()
	}
	switch {
	case w.n == 0:
		w.s.fences = append(w.s.fences, fence{p.key, w.offset})
		w.block = append(w.block[:0], 0)
		w.block = binary.AppendUvarint(w.block, p.num)
	case p.key != w.last.key:
		w.block = binary.AppendUvarint(w.block, p.key-w.last.key)
		w.block = binary.AppendUvarint(w.block, p.num)
	case p.num == w.last.num:
		return w.err // p was added before
	default:
		w.block = append(w.block, 0)
		w.block = binary.AppendUvarint(w.block, p.num-w.last.num)
	}
	if w.s.postings == 0 || p.key != w.last.key {
		w.s.filter.add(p.key)
	}
	w.n++
	w.last = p
	w.s.postings++
	return w.err
}

func (w *segmentWriter) endBlock() {
	w.block = binary.LittleEndian.AppendUint32(w.block, crc32.Checksum(w.block, castagnoli))
	w.write(w.block)
	w.offset += uint64(len(w.block))
	w.n = 0
}

func (w *segmentWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

// finish completes the file and syncs it.
func (w *segmentWriter) finish() (*segment, error) {
	if w.n > 0 {
		w.endBlock()
	}
	s := &w.s
	check := crc32.New(castagnoli)
	tail := io.MultiWriter(w.out, check)
	var b [footSize]byte
	for _, f := range s.fences {
		binary.LittleEndian.PutUint64(b[:], f.key)
		binary.LittleEndian.PutUint64(b[8:], f.start)
		tail.Write(b[:16]) // the error need not be checked: bufio.Writer returns it from Flush, and a hash has none
	}
	writeWords(tail, s.filter.words)
	foot := binary.LittleEndian.AppendUint64(b[:0], w.offset)
	foot = binary.LittleEndian.AppendUint64(foot, uint64(s.postings))
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(s.fences)))
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(s.filter.words)/wordsInBlock))
	check.Write(foot)
	foot = binary.LittleEndian.AppendUint32(foot, check.Sum32())
	w.write(append(foot, segmentMagic...))
	s.fences = append(s.fences, fence{math.MaxUint64, w.offset})
	s.file = w.file
	return s, errors.Join(w.err, w.out.Flush(), w.file.Sync())
}

// abandon removes an unfinished file.
func (w *segmentWriter) abandon() {
	w.file.Close()
	os.Remove(w.file.Name())
}

// writeWords writes words to w, little-endian. It ignores errors, because w returns them later.
func writeWords(w io.Writer, words []uint64) {
	buf := make([]byte, 0, 8<<10)
	for part := range slices.Chunk(words, cap(buf)/8) {
		buf = buf[:0]
		for _, v := range part {
			buf = binary.LittleEndian.AppendUint64(buf, v)
		}
		w.Write(buf)
	}
}

func readWords(r io.Reader, words []uint64) error {
	buf := make([]byte, 8<<10)
	for part := range slices.Chunk(words, len(buf)/8) {
		if _, err := io.ReadFull(r, buf[:8*len(part)]); err != nil {
			return err
		}
		for i := range part {
			part[i] = binary.LittleEndian.Uint64(buf[8*i:])
		}
	}
	return nil
}

// openSegment reads the part of a segment that is kept in memory. An error that wraps
// [store.ErrCorrupt] means that the file is damaged.
func openSegment(name string) (*segment, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s := &segment{file: f}
	if err := s.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("segment %s: %w", name, err)
	}
	return s, nil
}

func (s *segment) read() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	var foot [footSize]byte
	if _, err := s.file.ReadAt(foot[:], info.Size()-footSize); err != nil || string(foot[footSize-4:]) != segmentMagic {
		return fmt.Errorf("%w: no end", store.ErrCorrupt)
	}
	end := binary.LittleEndian.Uint64(foot[0:])
	postings := binary.LittleEndian.Uint64(foot[8:])
	blocks := uint64(binary.LittleEndian.Uint32(foot[16:]))
	filterBlocks := uint64(binary.LittleEndian.Uint32(foot[20:]))
	if end+16*blocks+8*wordsInBlock*filterBlocks+footSize != uint64(info.Size()) || filterBlocks == 0 {
		return fmt.Errorf("%w: wrong length", store.ErrCorrupt)
	}
	check := crc32.New(castagnoli)
	in := io.TeeReader(bufio.NewReaderSize(io.NewSectionReader(s.file, int64(end), info.Size()-int64(end)-footSize), 256<<10), check)
	fences := make([]uint64, 2*blocks)
	s.filter.words = make([]uint64, wordsInBlock*filterBlocks)
	if err := errors.Join(readWords(in, fences), readWords(in, s.filter.words)); err != nil {
		return err
	}
	check.Write(foot[:24])
	if binary.LittleEndian.Uint32(foot[24:]) != check.Sum32() {
		return fmt.Errorf("%w: wrong checksum", store.ErrCorrupt)
	}
	s.postings = int(postings)
	s.fences = make([]fence, 0, blocks+1)
	for f := range slices.Chunk(fences, 2) {
		s.fences = append(s.fences, fence{f[0], f[1]})
	}
	s.fences = append(s.fences, fence{math.MaxUint64, end})
	return nil
}

// blocks returns the number of blocks.
func (s *segment) blocks() int { return len(s.fences) - 1 }

// find appends to dst the numbers of the first want visits that the segment has under key, a hash
// from [Mixed], with the given kind.
func (s *segment) find(key uint64, kind Kind, want int, dst []uint64) ([]uint64, error) {
	// Begin one block before the first whose first key is key or greater, because the postings of key
	// may begin inside that block.
	i := max(0, sort.Search(s.blocks(), func(i int) bool { return s.fences[i].key >= key })-1)
	buf := blockBuffers.Get().(*[]byte)
	defer blockBuffers.Put(buf)
	for ; i < s.blocks() && s.fences[i].key <= key; i++ {
		b, err := s.readBlock(i, buf)
		if err != nil {
			return dst, err
		}
		for b.next() && b.p.key <= key {
			if b.p.key < key || KindOf(b.p.num) != kind {
				continue
			}
			if want <= 0 {
				return dst, nil
			}
			want--
			dst = append(dst, NumOf(b.p.num))
		}
		if b.fields.Bad {
			return dst, s.damaged(i)
		}
	}
	return dst, nil
}

var blockBuffers = sync.Pool{New: func() any { return new([]byte) }}

// readBlock reads block i into buf, which it enlarges if necessary, and verifies its checksum. The
// result is valid as long as buf is not changed.
func (s *segment) readBlock(i int, buf *[]byte) (blockReader, error) {
	start, end := s.fences[i].start, s.fences[i+1].start
	if end < start+4 || end-start > blockPostings*2*binary.MaxVarintLen64+4 {
		return blockReader{}, s.damaged(i)
	}
	*buf = slices.Grow((*buf)[:0], int(end-start))[:end-start]
	b := *buf
	if _, err := s.file.ReadAt(b, int64(start)); err != nil {
		return blockReader{}, err
	}
	b, check := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(b, castagnoli) != check {
		return blockReader{}, s.damaged(i)
	}
	return blockReader{fields: field.Reader{Rest: b}, p: posting{key: s.fences[i].key}}, nil
}

// damaged returns the error for a damaged block. Unless the segment is read-only, it also removes the
// file, so that the next opening rebuilds the index from the journal.
func (s *segment) damaged(block int) error {
	if !s.readOnly {
		os.Remove(s.file.Name())
	}
	return fmt.Errorf("segment %s: %w: block %d; run the command again to rebuild the index", s.file.Name(), store.ErrCorrupt, block)
}

// A blockReader reads the postings of a block.
type blockReader struct {
	fields field.Reader
	p      posting
}

// next moves to the next posting of the block. It returns false at the end of the block, or if the
// block is not well formed.
func (b *blockReader) next() bool {
	if len(b.fields.Rest) == 0 {
		return false
	}
	step, num := b.fields.Varint(), b.fields.Varint()
	if step == 0 {
		b.p.num += num
	} else {
		b.p = posting{b.p.key + step, num}
	}
	return !b.fields.Bad
}

// A segmentReader reads all postings of a segment in order.
type segmentReader struct {
	s     *segment
	block int // number of the block that is read next
	buf   []byte
	err   error
	blockReader
}

func (r *segmentReader) next() bool {
	for !r.blockReader.next() {
		if r.fields.Bad {
			r.err = store.ErrCorrupt
		}
		if r.err != nil || r.block == r.s.blocks() {
			return false
		}
		b, err := r.s.readBlock(r.block, &r.buf)
		if err != nil {
			r.err = err
			return false
		}
		r.blockReader = b
		r.block++
	}
	return true
}

// CheckSegment reads a whole segment file and returns an error if any part of it is damaged.
func CheckSegment(name string) error {
	s, err := openSegment(name)
	if err != nil {
		return err
	}
	defer s.file.Close()
	s.readOnly = true
	r := &segmentReader{s: s}
	n := 0
	for r.next() {
		n++
	}
	if r.err == nil && n != s.postings {
		return fmt.Errorf("%w: %d of %d postings", store.ErrCorrupt, n, s.postings)
	}
	return r.err
}
