package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
)

// # Damaged tables
//
// A table consists of blocks of about 16 KB, an index of the blocks, and a footer. Each block has a
// checksum, and so has the index. If a block does not match its checksum, badger behaves as if that
// block and the rest of the table had no keys. If badger then compacts the table, those keys are
// gone for good, and some corrupt bytes make badger panic. So before a store is opened, all blocks
// are read, at about a gigabyte a second, and a table with a damaged block is rewritten without
// that block. A table whose index is damaged is dropped. That is rare, because the index takes less
// than a hundredth of a table.
type tableContent struct {
	blocks [][]byte   // undamaged, without their checksums
	lost   []keyRange // ranges of the keys that may have been in damaged blocks
	last   uint64     // number of the last transaction in the table, even if its block is damaged; 0 if the index is damaged
}

// A keyRange is a range of keys that a lost block may have contained. It includes from and excludes
// before. An empty key means no bound on that side.
type keyRange struct{ from, before []byte }

func (r keyRange) mayHave(letter byte) bool {
	return (len(r.from) == 0 || r.from[0] <= letter) && (len(r.before) == 0 || letter <= r.before[0])
}

// readTable splits a table into its blocks. what describes the damage, or is "" if there is none.
func readTable(b []byte) (c *tableContent, what string) {
	rest, sum := cutSized(b)
	_, index := cutSized(rest)
	if !matches(index, sum) {
		return noTable(), "the index is damaged"
	}
	root := fb.GetRootAsTableIndex(index, 0)
	c = &tableContent{last: root.MaxVersion()}
	n := root.OffsetsLength()
	for i := range n {
		var at, next fb.BlockOffset
		root.Offsets(&at, i)
		end := min(int(at.Offset())+int(at.Len()), len(b))
		block, sum := cutSized(b[min(int(at.Offset()), end):end])
		if matches(block, sum) {
			c.blocks = append(c.blocks, block)
			continue
		}
		lost := keyRange{from: at.KeyBytes()}
		if i+1 < n {
			root.Offsets(&next, i+1)
			lost.before = next.KeyBytes()
		}
		c.lost = append(c.lost, lost)
	}
	if len(c.lost) > 0 {
		what = fmt.Sprintf("%d of %d blocks cannot be read", len(c.lost), n)
	}
	return c, what
}

func noTable() *tableContent { return &tableContent{lost: []keyRange{{}}} }

// cutSized splits b into its last section and the rest. The last four bytes of b are the size of
// that section, big-endian. Both results are nil if b is too short.
func cutSized(b []byte) (rest, last []byte) {
	at := len(b) - 4
	if at < 0 {
		return nil, nil
	}
	size := int(binary.BigEndian.Uint32(b[at:]))
	if size > at {
		return nil, nil
	}
	return b[:at-size], b[at-size : at]
}

func matches(b, sum []byte) bool {
	var check pb.Checksum
	return len(sum) > 0 && proto.Unmarshal(sum, &check) == nil && y.VerifyChecksum(b, &check) == nil
}

// blockEntries calls fn with the entries of a block that matches its checksum. An entry begins with
// two numbers of two bytes each, little-endian: the number of bytes that its key shares with the
// first key of the block, and the length of the rest of the key. The rest of the key and the value
// follow. The block ends with the offset of each entry, 4 bytes little-endian, and the number of
// entries, 4 bytes big-endian.
func blockEntries(block []byte, fn func(key, value []byte)) {
	tail := len(block) - 4
	list := tail - 4*int(binary.BigEndian.Uint32(block[tail:]))
	end := list // end of the next entry to read; entries are read from the last to the first
	var entries [][]byte
	for at := tail - 4; at >= list; at -= 4 {
		start := int(binary.LittleEndian.Uint32(block[at:]))
		entries = append(entries, block[start:end])
		end = start
	}
	var first []byte
	for _, e := range slices.Backward(entries) {
		shared, rest := binary.LittleEndian.Uint16(e), binary.LittleEndian.Uint16(e[2:])
		key := slices.Concat(first[:shared], e[4:4+rest])
		if first == nil {
			first = key
		}
		fn(key, e[4+rest:])
	}
}

// rewrite returns the table without the lost blocks, or nil if all blocks are lost.
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
	File string
	What string
}

// damagedTables reads all tables that are not listed in checked, and lists the undamaged ones there.
// It returns the damaged ones, with descriptions of the damage.
func damagedTables(dir string, m badgerdb.Manifest, checked *checkedTables) (found map[uint64]*tableContent, said []Damage, err error) {
	found = map[uint64]*tableContent{}
	unread := slices.DeleteFunc(slices.Collect(maps.Keys(m.Tables)), func(id uint64) bool { return checked.has(dir, id) })
	var mu sync.Mutex // guards both results and checked
	var all errgroup.Group
	all.SetLimit(min(runtime.GOMAXPROCS(0), 4))
	for _, id := range unread {
		all.Go(func() error {
			b, err := os.ReadFile(filepath.Join(dir, tableName(id)))
			c, what := noTable(), "missing"
			switch {
			case err == nil:
				c, what = readTable(b)
			case !errors.Is(err, os.ErrNotExist):
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if what == "" {
				checked.add(dir, id, c.last)
				return nil
			}
			found[id] = c
			said = append(said, Damage{tableName(id), what})
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(said, func(a, b Damage) int { return strings.Compare(a.File, b.File) })
	return found, said, nil
}

// rebuildManifest creates a MANIFEST that names all tables in the folder, to replace one that
// cannot be read. It puts all of them into the first level, in which tables may overlap. Badger
// then reorders them.
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
