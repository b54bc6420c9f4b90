package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"skink/base/field"
)

// # The logs of memtables
//
// A commit is in a log, NUMBER.mem, until badger has written its memtable as a table. There can be
// up to four logs: the one being filled, two whose memtables are waiting to be written, and one
// left by a killed process. Badger's Sync syncs only the one being filled, and a file system may
// write a newer log before an older one. So a power failure can leave a gap in the middle of the
// history, such as a record without its text, or the final state of a URL whose discovery
// is missing. The store does two things about it:
//
//   - [Store.Sync] syncs all logs, oldest first.
//   - Before badger opens a store, readLogs reads the logs. Every transaction has a number, one
//     more than the one before it. If a number is missing, the logs after the gap are removed. The
//     remaining data is the store as it was at some moment. Later pages are fetched again.
//
// A log consists of a header of 20 bytes, then entries, then zeros:
//
//	header    number of the key for decryption (8), always 0; rest unused
//	entry     meta (1), user metadata (1), length of key, length of value, 0 (varints), key, value,
//	          CRC-32C of all that (4, big-endian)
//
// The last 8 bytes of a key are the complement of its transaction's number. The last entry of a
// transaction has that number in digits as its value, and its meta marks it as the last. A log ends
// at the first incomplete entry, such as one that a killed process was writing. Data was lost there
// only if complete entries follow.
type memLog struct {
	name        string
	first, last uint64    // first and last complete transaction before any damage; 0 means none
	highest     uint64    // highest transaction in the log, even after damage
	end         int       // offset in bytes of the end of the last complete transaction before any damage
	counters    *counters // last counters in the log, even after damage; nil means none
	encrypted   bool      // whether the header names a key, because it is damaged
}

const (
	logExt      = ".mem"
	logHead     = 20
	logKey      = 8 // number of bytes of the header that name the key
	inTxn       = 1 << 6
	endsTxn     = 1 << 7
	maxLogKey   = 1 << 16
	logChecksum = 4
)

func readLogs(dir string) ([]memLog, error) {
	names, err := logNames(dir)
	if err != nil {
		return nil, err
	}
	var logs []memLog
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		logs = append(logs, readLog(name, b))
	}
	return logs, nil
}

func logNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), logExt) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return logNumber(a) - logNumber(b) })
	return names, nil
}

func logNumber(name string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), logExt))
	return n
}

func readLog(name string, b []byte) memLog {
	l := memLog{name: name, end: min(logHead, len(b))}
	l.encrypted = len(b) >= logKey && [logKey]byte(b) != [logKey]byte{}
	at, open := logHead, uint64(0) // open is the transaction that is not complete yet; 0 means none
	for {
		e, ok := readEntry(b, at)
		if !ok || open != 0 && e.txn != open {
			break
		}
		at, open = at+e.size, e.txn
		l.note(e)
		if e.meta&endsTxn == 0 && e.meta&inTxn != 0 {
			continue
		}
		if l.first == 0 {
			l.first = e.txn
		}
		l.last, l.end, open = e.txn, at, 0
	}
	l.salvage(b, at)
	return l
}

// salvage reads the complete entries after the end of the log at b[at], and updates l.highest and
// l.counters.
func (l *memLog) salvage(b []byte, at int) {
	l.highest = l.last
	for at < len(b) {
		at = len(b) - len(bytes.TrimLeft(b[at:], "\x00"))
		e, ok := readEntry(b, at)
		if !ok {
			at++
			continue
		}
		at += e.size
		l.note(e)
		if e.meta&endsTxn != 0 {
			l.highest = max(l.highest, e.txn)
		}
	}
}

func (l *memLog) note(e logEntry) {
	if len(e.key) != 1 || e.key[0] != keyCounters {
		return
	}
	if c := new(counters); c.decode(e.value) == nil {
		l.counters = c
	}
}

type logEntry struct {
	meta       byte
	txn        uint64
	key, value []byte
	size       int
}

// readEntry reads the entry that begins at b[at]. ok is false if there is no complete entry.
func readEntry(b []byte, at int) (e logEntry, ok bool) {
	if at+2 > len(b) || b[at]&^0xC1 != 0 || b[at] == 0 || b[at+1] > max(runMeta, aloneMeta) {
		return e, false
	}
	e.meta = b[at]
	d := field.Reader{Rest: b[at+2:]}
	keyLen, valueLen := d.Varint(), d.Varint()
	if expires := d.Varint(); d.Bad || expires != 0 || keyLen < 8 || keyLen > maxLogKey {
		return e, false
	}
	head := len(b) - at - len(d.Rest)
	key, value := d.Bytes(keyLen), d.Bytes(valueLen)
	check := d.Bytes(logChecksum)
	if d.Bad {
		return e, false
	}
	e.size = head + len(key) + len(value) + logChecksum
	if crc32.Checksum(b[at:at+e.size-logChecksum], castagnoli) != binary.BigEndian.Uint32(check) {
		return e, false
	}
	e.key, e.value = key[:len(key)-8], value
	e.txn = math.MaxUint64 - binary.BigEndian.Uint64(key[len(key)-8:])
	return e, true
}

// A Loss describes the data that was lost because of a power failure or damaged files. Every lost page
// that can be identified is pending again.
type Loss struct {
	Transactions uint64 // number of transactions, complete or not, found after a gap in the logs
	Records      int64  // number of records lost with those transactions: pages, redirects, errors and so on

	Damage  []Damage
	Missing int64 // number of records lost with the damaged files
	Pending int64 // number of URLs that must be fetched again because of the damage
	Names   bool  // whether settings, seeds or feed positions may be lost with the damaged files

	counters *counters
}

// afterGap returns the logs after the first gap, and the data that is lost if these logs are
// removed. tables is the number of the last transaction in any table. A damaged log is kept up to
// the point of damage. An empty log is not a gap: badger may have written its data to a table and
// removed the log, and after a power failure the file may reappear empty.
func afterGap(logs []memLog, tables uint64) (gone []memLog, loss Loss) {
	reached := tables
	whole := true
	for i, l := range logs {
		if !whole || l.first > reached+1 {
			gone = logs[i:]
			break
		}
		reached = max(reached, l.last)
		whole = l.highest <= l.last
	}
	if whole && gone == nil {
		return nil, loss
	}
	highest := reached
	for _, l := range logs {
		highest = max(highest, l.highest)
		if l.counters != nil && l.highest > reached {
			loss.counters = l.counters
		}
	}
	loss.Transactions = highest - reached
	return gone, loss
}

// syncLogs syncs all logs, oldest first, and then their folder. If a log no longer exists, badger
// has turned it into a table and synced that.
func syncLogs(dir string, sync func(*os.File) error) error {
	names, err := logNames(dir)
	if err != nil {
		return err
	}
	for _, name := range append(names, dir) {
		if err := syncFile(name, sync); err != nil {
			return err
		}
	}
	return nil
}

func syncFile(name string, sync func(*os.File) error) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := sync(f); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}
