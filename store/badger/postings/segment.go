package postings

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/dgraph-io/ristretto/v2/z"

	"skink/base/field"
	"skink/store"
)

// # A segment
//
// A segment is a file of postings, sorted by key and then by number. It never changes after the
// manifest names it. Integers are little-endian, varints are as in encoding/binary, and a "check"
// is a CRC-32C checksum.
//
//	filter    the bytes of a [bloom] of all keys
//	fences    for each block its first key and where it starts, 8 bytes each;
//	          after them there may be unused room for more
//	blocks    of up to blockPostings each: for every posting the varint of its
//	          key's distance from the previous key (0 for the first posting), then
//	          the varint of its number or, if the key is the same, of its number's
//	          distance from the previous number; then the check of all that, 4
//	          bytes
//	foot      40 bytes: postings (8), where the blocks end (8), blocks (4), room
//	          for fences (4), blocks of the filter (4), the check of the filter
//	          (4), the check of the fences and of the foot up to here (4), "skPS"
//
// The filter and the fences form the head of the file, which is mapped into memory. So they use
// none of the process's own memory, and the system can drop them when memory is short. Looking up
// an absent key costs one cache line, and a present key costs one read of some 1.2 KB, whatever the
// segment's size. A posting takes 11 to 12 bytes of disk.
//
// A writer needs little memory too, however large the segment: it writes the filter, the fences and
// the blocks at the same time, each from its beginning to its end, because keys arrive in order.
type segment struct {
	file     *os.File
	id       uint64
	level    int
	readOnly bool // keep the file even if it is damaged
	postings int
	blocks   int
	end      uint64 // offset of the end of the blocks
	filter   bloom
	fences   []byte // fenceSize bytes for each block
	unmap    runtime.Cleanup
	head     []byte
}

const (
	blockPostings = 128 // larger blocks take longer to search, smaller ones need more fences
	fenceSize     = 16
	footSize      = 40
	segmentMagic  = "skPS"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// filterBits returns the number of filter bits per posting in a segment with the given number of
// postings. Large segments get fewer bits, because their filters make up most of the memory that
// lookups need. Small segments get more, because there are many of them, and each false hit of a
// filter costs a read.
func filterBits(postings int) int {
	if postings > 8<<20 {
		return 10
	}
	return 16
}

type segmentWriter struct {
	file   *os.File
	filter *bloomWriter
	fences *section
	blocks *section
	room   int // number of fences that fit into the file
	err    error

	s     segment
	block []byte
	n     int
	last  posting
}

// newSegmentWriter creates a segment file with the given path. postings is the maximum number of
// postings that may be added. It determines the size of the filter and the room for fences.
func newSegmentWriter(name string, postings int) (*segmentWriter, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	filter := bloomBlocks(postings, filterBits(postings))
	room := (postings + blockPostings - 1) / blockPostings
	w := &segmentWriter{
		file:   f,
		filter: &bloomWriter{out: newSection(f, 0), blocks: filter},
		fences: newSection(f, uint64(filter*bloomBlock)),
		blocks: newSection(f, uint64(filter*bloomBlock+room*fenceSize)),
		room:   room,
	}
	return w, nil
}

// add adds a posting. If that fails, w.err is the reason.
func (w *segmentWriter) add(p posting) {
	if w.n == blockPostings {
		w.endBlock()
	}
	switch {
	case w.n == 0:
		w.addFence(p.key)
		w.block = append(w.block[:0], 0)
		w.block = binary.AppendUvarint(w.block, p.num)
	case p.key != w.last.key:
		w.block = binary.AppendUvarint(w.block, p.key-w.last.key)
		w.block = binary.AppendUvarint(w.block, p.num)
	case p.num == w.last.num:
		return // p was already added
	default:
		w.block = append(w.block, 0)
		w.block = binary.AppendUvarint(w.block, p.num-w.last.num)
	}
	if w.s.postings == 0 || p.key != w.last.key {
		w.filter.add(p.key)
	}
	w.n++
	w.last = p
	w.s.postings++
}

func (w *segmentWriter) addFence(key uint64) {
	var b [fenceSize]byte
	binary.LittleEndian.PutUint64(b[:], key)
	binary.LittleEndian.PutUint64(b[8:], w.blocks.end)
	w.fences.Write(b[:])
	w.s.blocks++
}

func (w *segmentWriter) endBlock() {
	w.block = binary.LittleEndian.AppendUint32(w.block, crc32.Checksum(w.block, castagnoli))
	_, err := w.blocks.Write(w.block)
	w.err = cmp.Or(w.err, err)
	w.n = 0
}

func (w *segmentWriter) finish() (*segment, error) {
	if w.n > 0 {
		w.endBlock()
	}
	w.filter.finish()
	s := &w.s
	s.file, s.end = w.file, w.blocks.end
	foot := binary.LittleEndian.AppendUint64(nil, uint64(s.postings))
	foot = binary.LittleEndian.AppendUint64(foot, s.end)
	foot = binary.LittleEndian.AppendUint32(foot, uint32(s.blocks))
	foot = binary.LittleEndian.AppendUint32(foot, uint32(w.room))
	foot = binary.LittleEndian.AppendUint32(foot, uint32(w.filter.blocks))
	foot = binary.LittleEndian.AppendUint32(foot, w.filter.out.check)
	foot = binary.LittleEndian.AppendUint32(foot, crc32.Update(w.fences.check, castagnoli, foot))
	w.blocks.Write(append(foot, segmentMagic...))
	err := cmp.Or(w.err, errors.Join(w.filter.out.Flush(), w.fences.Flush(), w.blocks.Flush()))
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return nil, err
	}
	return s, s.mapHead(w.filter.blocks, w.room)
}

func (w *segmentWriter) abandon() {
	w.file.Close()
	os.Remove(w.file.Name())
}

// A section writes a part of a file from beginning to end.
type section struct {
	*bufio.Writer        // keeps the first error and returns it from Flush
	end           uint64 // file offset of the next byte
	check         uint32 // CRC-32C of all bytes so far
}

func newSection(f *os.File, start uint64) *section {
	return &section{Writer: bufio.NewWriterSize(io.NewOffsetWriter(f, int64(start)), 128<<10), end: start}
}

func (s *section) Write(b []byte) (int, error) {
	s.end += uint64(len(b))
	s.check = crc32.Update(s.check, castagnoli, b)
	return s.Writer.Write(b)
}

// mapHead maps the filter and the fences. filter is the number of blocks in the filter, and room is
// the number of fences that fit. Both are unmapped by close, or when the segment is no longer
// referenced.
func (s *segment) mapHead(filter, room int) error {
	size := filter*bloomBlock + room*fenceSize
	head, err := z.Mmap(s.file, false, int64(size))
	if err != nil {
		return fmt.Errorf("memory-map the header of segment %s: %w", s.file.Name(), err)
	}
	s.head = head
	s.unmap = runtime.AddCleanup(s, func(head []byte) { _ = z.Munmap(head) }, head)
	s.filter.bytes = head[:filter*bloomBlock]
	s.fences = head[filter*bloomBlock:][:s.blocks*fenceSize]
	return nil
}

// close closes the file. No other method may be called during or after close.
func (s *segment) close() {
	if s.head != nil {
		s.unmap.Stop()
		_ = z.Munmap(s.head) // fails only if the memory is not mapped
		s.head, s.filter.bytes, s.fences = nil, nil, nil
	}
	s.file.Close()
}

// openSegment opens a segment, verifies the checksums of its head and maps it. The error wraps
// [store.ErrCorrupt] if the file is damaged.
func openSegment(name string) (*segment, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s := &segment{file: f}
	if err := s.open(); err != nil {
		f.Close()
		return nil, fmt.Errorf("open segment %s: %w", name, err)
	}
	return s, nil
}

func (s *segment) open() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	var foot [footSize]byte
	if _, err := s.file.ReadAt(foot[:], info.Size()-footSize); err != nil || string(foot[footSize-4:]) != segmentMagic {
		return fmt.Errorf("%w: the end of the file is missing", store.ErrCorrupt)
	}
	s.postings = int(binary.LittleEndian.Uint64(foot[0:]))
	s.end = binary.LittleEndian.Uint64(foot[8:])
	s.blocks = int(binary.LittleEndian.Uint32(foot[16:]))
	room := int(binary.LittleEndian.Uint32(foot[20:]))
	filter := int(binary.LittleEndian.Uint32(foot[24:]))
	head := int64(filter*bloomBlock + room*fenceSize)
	if s.end+footSize != uint64(info.Size()) || uint64(head) > s.end || filter == 0 || s.blocks > room {
		return fmt.Errorf("%w: the file has the wrong length", store.ErrCorrupt)
	}
	filterCheck, err := s.checkOf(0, filter*bloomBlock)
	if err != nil {
		return err
	}
	fencesCheck, err := s.checkOf(filter*bloomBlock, s.blocks*fenceSize)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(foot[28:]) != filterCheck ||
		binary.LittleEndian.Uint32(foot[32:]) != crc32.Update(fencesCheck, castagnoli, foot[:32]) {
		return fmt.Errorf("%w: the checksum is wrong", store.ErrCorrupt)
	}
	return s.mapHead(filter, room)
}

// checkOf returns the checksum of a part of the file. It reads the part into a small buffer, because
// reading a mapped file would make all of it resident.
func (s *segment) checkOf(start, size int) (uint32, error) {
	check := crc32.New(castagnoli)
	_, err := io.CopyBuffer(check, io.NewSectionReader(s.file, int64(start), int64(size)), make([]byte, 128<<10))
	return check.Sum32(), err
}

func (s *segment) firstKey(i int) uint64 { return binary.LittleEndian.Uint64(s.fences[i*fenceSize:]) }

// start returns the file offset of block i, or the end of the last block if i is the number of
// blocks.
func (s *segment) start(i int) uint64 {
	if i == s.blocks {
		return s.end
	}
	return binary.LittleEndian.Uint64(s.fences[i*fenceSize+8:])
}

// find appends to dst the numbers of the first want visits that the segment has under key, a hash
// from [Mixed].
func (s *segment) find(key uint64, want int, dst []uint64) ([]uint64, error) {
	// Begin one block before the first one whose first key is at least key, because the postings of
	// key may begin inside that block.
	i := max(0, sort.Search(s.blocks, func(i int) bool { return s.firstKey(i) >= key })-1)
	buf := blockBuffers.Get().(*[]byte)
	defer blockBuffers.Put(buf)
	for ; i < s.blocks && s.firstKey(i) <= key; i++ {
		b, err := s.readBlock(i, buf)
		if err != nil {
			return dst, err
		}
		for b.next() && b.p.key <= key {
			if b.p.key < key {
				continue
			}
			if want <= 0 {
				return dst, nil
			}
			want--
			dst = append(dst, b.p.num)
		}
		if b.fields.Bad {
			return dst, s.damaged(i)
		}
	}
	return dst, nil
}

var blockBuffers = sync.Pool{New: func() any { return new([]byte) }}

// readBlock reads block i into buf, which it enlarges if necessary, and verifies the checksum. The
// result is valid until buf is changed.
func (s *segment) readBlock(i int, buf *[]byte) (blockReader, error) {
	start, end := s.start(i), s.start(i+1)
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
	return blockReader{fields: field.Reader{Rest: b}, p: posting{key: s.firstKey(i)}}, nil
}

// damaged returns the error for a damaged block. Unless the segment is read-only, it also removes
// the file, so that the index is rebuilt from the visits when the store is opened next.
func (s *segment) damaged(block int) error {
	if !s.readOnly {
		os.Remove(s.file.Name())
	}
	return fmt.Errorf("read block %[3]d of segment %[1]s: %[2]w; run the command again to rebuild the index", s.file.Name(), store.ErrCorrupt, block)
}

type blockReader struct {
	fields field.Reader
	p      posting
}

// next moves to the next posting of the block. It returns false at the end of the block or if the
// block is malformed.
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

type segmentReader struct {
	s     *segment
	block int
	buf   []byte
	err   error
	blockReader
}

func (r *segmentReader) next() bool {
	for !r.blockReader.next() {
		if r.fields.Bad {
			r.err = store.ErrCorrupt
		}
		if r.err != nil || r.block == r.s.blocks {
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
	defer s.close()
	s.readOnly = true
	r := &segmentReader{s: s}
	n := 0
	for r.next() {
		n++
	}
	if r.err == nil && n != s.postings {
		return fmt.Errorf("%w: the segment has %d postings instead of %d", store.ErrCorrupt, n, s.postings)
	}
	return r.err
}
