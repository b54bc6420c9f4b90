package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// # LZ4_RAW
//
// The Parquet library's own decoder of LZ4_RAW ignores the size of a page: it takes ever more memory
// for a damaged page, and returns zeros for some intact ones. So the library never sees the codec.
// It reads an [unpacked] file, which has the same pages without compression, each with a new header.
// A page is decompressed when it is read.

// An unpacked is the uncompressed form of a file. It is not safe for concurrent use.
type unpacked struct {
	file   io.ReaderAt
	pieces []piece // in order, without gaps
	size   int64
	last   int // piece whose bytes are in page, or -1
	page   []byte
}

// A piece is a part of an unpacked file: a copied part of the original file, a page, or new bytes.
type piece struct {
	at, size     int64
	from, packed int64 // place in the original file
	plain        int64 // number of bytes at the beginning of a page that are not compressed
	column       string
	content      []byte // not nil for new bytes
}

const (
	maxPage   = 256 << 20 // bytes of a page
	maxHeader = 1 << 20   // bytes of a page's header
	maxRatio  = 255       // no block of LZ4 expands by more
)

func hasLZ4(index *format.FileMetaData) bool {
	for _, g := range index.RowGroups {
		for i := range g.Columns {
			if g.Columns[i].MetaData.Codec == format.Lz4Raw {
				return true
			}
		}
	}
	return false
}

var compact thrift.CompactProtocol

// unpack returns the uncompressed form of a file of size bytes with the given index, which it
// changes.
func unpack(f io.ReaderAt, size int64, index *format.FileMetaData) (*unpacked, error) {
	u := &unpacked{file: f, last: -1}
	u.add(piece{content: []byte(Magic)})
	for _, g := range index.RowGroups {
		for i := range g.Columns {
			c := &g.Columns[i]
			if err := u.addChunk(&c.MetaData, size); err != nil {
				return nil, fmt.Errorf("the column %s: %w", nameOf(&c.MetaData), err)
			}
			c.OffsetIndexOffset, c.ColumnIndexOffset, c.MetaData.BloomFilterOffset = 0, 0, 0
		}
	}
	footer, err := thrift.Marshal(&compact, index)
	if err != nil {
		return nil, err
	}
	footer = append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), Magic...)
	u.add(piece{content: footer})
	return u, nil
}

func nameOf(c *format.ColumnMetaData) string { return strings.Join(c.PathInSchema, ".") }

func (u *unpacked) add(p piece) {
	if p.content != nil {
		p.size = int64(len(p.content))
	}
	p.at = u.size
	u.size += p.size
	u.pieces = append(u.pieces, p)
}

// addChunk adds the pages of a column in one row group, and updates c.
func (u *unpacked) addChunk(c *format.ColumnMetaData, size int64) error {
	from, start := c.DataPageOffset, u.size
	if c.DictionaryPageOffset > 0 {
		from = min(from, c.DictionaryPageOffset)
	}
	length := c.TotalCompressedSize
	if from < 0 || length < 0 || from > size || length > size-from {
		return errors.New("its index is damaged: the pages are not in the file")
	}
	if c.Codec != format.Lz4Raw {
		u.add(piece{from: from, size: length})
		c.DataPageOffset += start - from
		if c.DictionaryPageOffset > 0 {
			c.DictionaryPageOffset += start - from
		}
		return nil
	}
	c.Codec, c.DataPageOffset, c.DictionaryPageOffset = format.Uncompressed, 0, 0
	for end := from + length; from < end; {
		at := u.size
		kind, next, err := u.addPage(nameOf(c), from, end)
		switch {
		case err != nil:
			return fmt.Errorf("the page at %d has a damaged header: %w", from, err)
		case kind == format.DictionaryPage:
			c.DictionaryPageOffset = at
		case c.DataPageOffset == 0:
			c.DataPageOffset = at
		}
		from = next
	}
	c.TotalCompressedSize = u.size - start
	return nil
}

// addPage adds the page at from, and returns its type and where it ends, which is not after end.
func (u *unpacked) addPage(column string, from, end int64) (kind format.PageType, next int64, err error) {
	h, n, err := headerAt(io.NewSectionReader(u.file, from, end-from))
	if err != nil {
		return 0, 0, err
	}
	p := piece{from: from + n, packed: int64(h.CompressedPageSize), size: int64(h.UncompressedPageSize), column: column}
	if v2 := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		p.plain = int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if compressed, said := v2.IsCompressed.Get(); said && !compressed {
			p.plain = p.packed
		}
	}
	if p.packed < 0 || p.packed > end-p.from || p.plain < 0 || p.plain > min(p.packed, p.size) || p.size > maxPage || p.size-p.plain > maxRatio*(p.packed-p.plain) {
		return 0, 0, fmt.Errorf("the sizes %d and %d are impossible, or above the limit of 256 MiB", p.packed, p.size)
	}
	h.CompressedPageSize, h.CRC = h.UncompressedPageSize, 0
	header, err := thrift.Marshal(&compact, h)
	if err != nil {
		return 0, 0, err
	}
	u.add(piece{content: header})
	u.add(p)
	return h.Type, p.from + p.packed, nil
}

// headerAt reads the header of a page, and returns its length.
func headerAt(r *io.SectionReader) (*format.PageHeader, int64, error) {
	for most := int64(1 << 10); ; most = maxHeader {
		b, err := io.ReadAll(io.NewSectionReader(r, 0, most))
		if err != nil {
			return nil, 0, err
		}
		h, from := &format.PageHeader{}, compact.NewReaderFromBytes(b)
		err = thrift.NewDecoder(from).Decode(h)
		if err == nil || most == maxHeader || int64(len(b)) < most {
			return h, int64(from.BytesRead()), err
		}
	}
}

func (u *unpacked) ReadAt(b []byte, at int64) (n int, err error) {
	i := sort.Search(len(u.pieces), func(i int) bool { return u.pieces[i].at+u.pieces[i].size > at })
	for ; i < len(u.pieces) && n < len(b); i++ {
		p := &u.pieces[i]
		skip, rest := at+int64(n)-p.at, b[n:]
		rest = rest[:min(int64(len(rest)), p.size-skip)]
		switch {
		case p.content != nil:
			copy(rest, p.content[skip:])
		case p.column == "":
			_, err = io.ReadFull(io.NewSectionReader(u.file, p.from+skip, int64(len(rest))), rest)
		default:
			if err = u.load(i); err == nil {
				copy(rest, u.page[skip:])
			}
		}
		if err != nil {
			return n, err
		}
		n += len(rest)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// load decompresses the page of a piece into u.page.
func (u *unpacked) load(i int) error {
	if u.last == i {
		return nil
	}
	p := &u.pieces[i]
	packed, page := make([]byte, p.packed), make([]byte, p.size)
	if _, err := u.file.ReadAt(packed, p.from); err != nil && err != io.EOF {
		return err
	}
	copy(page, packed[:p.plain])
	if rest := page[p.plain:]; len(rest) > 0 {
		if n, err := lz4.UncompressBlock(packed[p.plain:], rest); err != nil || n < len(rest) {
			return fmt.Errorf("the column %s: the page at %d is damaged: it cannot be decompressed", p.column, p.from)
		}
	}
	u.last, u.page = i, page
	return nil
}
