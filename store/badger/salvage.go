package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// # Damaged tables
//
// A table consists of blocks of some 16 KB, an index of the blocks, and a foot. Each block has a
// checksum, and so has the index. If a block does not match its checksum, badger behaves as if that
// block and the rest of the table had no keys. A compaction over the block loses those keys for
// good, and some wrong bytes make badger panic. So before a store is opened all blocks are read, a
// gigabyte a second, and a table with a damaged block is rewritten without it. The checksum of a
// block also shows where the block ends, so intact blocks can be found without the index. After a
// damaged block only the index tells where the next one begins.
type tableContent struct {
	blocks  [][]byte // whole blocks, without their checksums
	lost    []keyRange
	noIndex bool
}

// A keyRange is the range of keys that a lost block may have had: after one key and before another.
// An empty key is no bound.
type keyRange struct{ after, before []byte }

func (r keyRange) mayHave(letter byte) bool {
	return (len(r.after) == 0 || r.after[0] <= letter) && (len(r.before) == 0 || letter <= r.before[0])
}

func (c *tableContent) whole() bool { return len(c.lost) == 0 && !c.noIndex }

// blockBound is more than a block takes: some entries and one part of a text.
const blockBound = 2 << 20

// readTable splits a table into its blocks.
func readTable(b []byte) *tableContent {
	starts, end, ok := tableIndex(b)
	if !ok {
		return scanTable(b)
	}
	c := &tableContent{}
	for i, at := range starts {
		to := end
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		if at > to || to > end {
			return scanTable(b)
		}
		block := checkedBlock(b[at:to])
		if block == nil {
			c.lost = append(c.lost, keyRange{after: c.lastKey()})
			continue
		}
		if n := len(c.lost); n > 0 && c.lost[n-1].before == nil {
			c.lost[n-1].before = blockKeys(block)[0]
		}
		c.blocks = append(c.blocks, block)
	}
	return c
}

// scanTable splits a table with a damaged index. It is unknown where the blocks end and the index
// begins. So if the rest is not larger than an index may be, it is taken for the index.
func scanTable(b []byte) *tableContent {
	c := &tableContent{noIndex: true}
	for at := 0; at < len(b); {
		size, block := firstBlock(b[at:])
		if size == 0 {
			if len(b)-at > len(b)/16+1024 {
				c.lost = append(c.lost, keyRange{after: c.lastKey()})
			}
			break
		}
		c.blocks = append(c.blocks, block)
		at += size
	}
	return c
}

// checkedBlock returns a block without its checksum, or nil if the block does not match it. A block
// ends with its checksum and the size of the checksum in 4 bytes.
func checkedBlock(b []byte) []byte {
	if len(b) < 8 {
		return nil
	}
	sum := len(b) - 4 - int(binary.BigEndian.Uint32(b[len(b)-4:]))
	if sum < 4 || sum > len(b)-4 || !matches(b[:sum], b[sum:len(b)-4]) {
		return nil
	}
	return b[:sum]
}

func (c *tableContent) lastKey() []byte {
	if len(c.blocks) == 0 {
		return nil
	}
	keys := blockKeys(c.blocks[len(c.blocks)-1])
	return keys[len(keys)-1]
}

// tableIndex returns where each block starts and where the last one ends. ok is false if the index
// does not match its checksum.
func tableIndex(b []byte) (starts []int, end int, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			starts, end, ok = nil, len(b), false
		}
	}()
	sumSize := int(binary.BigEndian.Uint32(b[len(b)-4:]))
	sum := b[len(b)-4-sumSize : len(b)-4]
	size := int(binary.BigEndian.Uint32(b[len(b)-8-sumSize:]))
	index := b[len(b)-8-sumSize-size : len(b)-8-sumSize]
	if !matches(index, sum) {
		return nil, len(b), false
	}
	root := fb.GetRootAsTableIndex(index, 0)
	var block fb.BlockOffset
	for i := range root.OffsetsLength() {
		root.Offsets(&block, i)
		starts = append(starts, int(block.Offset()))
	}
	return starts, len(b) - 8 - sumSize - size, true
}

func matches(b, sum []byte) bool {
	var check pb.Checksum
	return proto.Unmarshal(sum, &check) == nil && y.VerifyChecksum(b, &check) == nil
}

// firstBlock returns the block that b begins with, and its size with the checksum; 0: there is no
// whole block. The checksum is a tag and up to five bytes.
func firstBlock(b []byte) (size int, block []byte) {
	const tag, mostSum = 0x10, 6
	for at := 16; at+4 <= min(len(b), blockBound); at++ {
		next := bytes.Index(b[at:min(len(b), blockBound)], []byte{0, 0, 0})
		if next < 0 || at+next+4 > len(b) {
			return 0, nil
		}
		at += next
		n := int(b[at+3])
		if n < 2 || n > mostSum || at-n < 8 || b[at-n] != tag {
			continue
		}
		if block := b[:at-n]; matches(block, b[at-n:at]) && blockKeys(block) != nil {
			return at + 4, block
		}
	}
	return 0, nil
}

// blockEntries calls fn with the entries of a block, and reports whether it is a block. An entry
// begins with two numbers of two bytes each, little-endian: how many bytes its key shares with the
// first key of the block, and how long the rest of the key is. Then come that rest and the value.
// The block ends with the start of each entry, 4 bytes little-endian, and the number of entries, 4
// bytes big-endian.
func blockEntries(block []byte, fn func(key, value []byte)) bool {
	tail := len(block) - 4
	if tail < 0 {
		return false
	}
	n := int(binary.BigEndian.Uint32(block[tail:]))
	list := tail - 4*n
	if n < 1 || n > tail/4 || list < 4 {
		return false
	}
	var base []byte
	for i := range n {
		from, to := int(binary.LittleEndian.Uint32(block[list+4*i:])), list
		if i+1 < n {
			to = int(binary.LittleEndian.Uint32(block[list+4*i+4:]))
		}
		if from < 0 || to > list || from+4 > to {
			return false
		}
		e := block[from:to]
		overlap, diff := int(binary.LittleEndian.Uint16(e)), int(binary.LittleEndian.Uint16(e[2:]))
		if overlap > len(base) || 4+diff > len(e) {
			return false
		}
		key := slices.Concat(base[:overlap], e[4:4+diff])
		if i == 0 {
			base = key
		}
		if len(key) < 9 {
			return false
		}
		fn(key, e[4+diff:])
	}
	return true
}

// blockKeys returns the keys of a block, nil if it is not a block.
func blockKeys(block []byte) (keys [][]byte) {
	if !blockEntries(block, func(key, _ []byte) { keys = append(keys, key) }) {
		return nil
	}
	return keys
}

// rewrite returns the table without the lost blocks, nil if nothing is left.
func (c *tableContent) rewrite() []byte {
	if len(c.blocks) == 0 {
		return nil
	}
	b := table.NewTableBuilder(table.Options{TableSize: 8 << 20, BlockSize: blockSize, BloomFalsePositive: 0.01, ChkMode: options.OnBlockRead})
	defer b.Close()
	for _, block := range c.blocks {
		blockEntries(block, func(key, encoded []byte) {
			var value y.ValueStruct
			value.Decode(encoded)
			b.Add(key, value, 0)
		})
	}
	return b.Finish()
}

// A Damage describes a damaged file of a store.
type Damage struct {
	File string // name of the file in the store's folder
	What string
}

// damagedTables reads all tables and returns the damaged ones, with descriptions of the damage.
func damagedTables(dir string, m badgerdb.Manifest) (found map[uint64]*tableContent, said []Damage, err error) {
	found = map[uint64]*tableContent{}
	for id := range m.Tables {
		b, err := os.ReadFile(filepath.Join(dir, tableName(id)))
		if errors.Is(err, os.ErrNotExist) {
			found[id] = &tableContent{lost: []keyRange{{}}}
			said = append(said, Damage{tableName(id), "it is missing"})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		c := readTable(b)
		if c.whole() {
			continue
		}
		found[id] = c
		var what []string
		if len(c.lost) > 0 {
			what = append(what, fmt.Sprintf("%d of %d blocks cannot be read", len(c.lost), len(c.lost)+len(c.blocks)))
		}
		if c.noIndex {
			what = append(what, "its index is damaged")
		}
		said = append(said, Damage{tableName(id), strings.Join(what, ", ")})
	}
	slices.SortFunc(said, func(a, b Damage) int { return strings.Compare(a.File, b.File) })
	return found, said, nil
}

// rebuildManifest makes a MANIFEST of all tables in the folder, to replace one that cannot be read.
// It puts all of them into the first level, in which tables may overlap. Badger reorders them by
// itself.
func rebuildManifest(dir string) (badgerdb.Manifest, error) {
	m := badgerdb.Manifest{Tables: map[uint64]badgerdb.TableManifest{}}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if id, ok := table.ParseFileID(e.Name()); ok {
			m.Tables[id] = badgerdb.TableManifest{}
		}
	}
	return m, err
}
