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
)

// # The logs of memtables
//
// What is committed is in a log, NUMBER.mem, until badger has written its memtable
// as a table. There can be four logs: one that is being filled, two that wait, and
// one that a killed process left. Badger's Sync syncs the first of them alone, and a
// file system may write the newer before the older. So a power cut can leave a gap
// in the middle of history: a page's record without its journal entry, a URL that is
// done and was never found. Two things are done about it:
//
//   - [Store.Sync] syncs all logs, the oldest first.
//   - Before badger opens a store, the logs are read here. Every transaction has a
//     number, one more than the one before it. Where a number is missing, that log
//     and those after it are removed: what remains is the store as it was at some
//     moment, and what came later is fetched again.
//
// A log is 20 bytes of head, then entries, then zeros:
//
//	entry     meta (1), 0, length of key, length of value, 0 (varints), key, value,
//	          CRC-32C of all that (4, big-endian)
//
// A key ends with the complement of its transaction's number, 8 bytes. The last entry of a
// transaction has the number in digits as its value, and meta says that it is the last.
// An entry that is not whole ends the log, as it must: a process was killed while it
// wrote. Only if whole ones come after it was something lost there.
type memLog struct {
	name        string
	first, last uint64    // numbers of its transactions up to the first damage; 0: there is none
	highest     uint64    // number of any transaction that is in it, also after damage
	end         int       // of the last whole transaction before any damage
	counters    *counters // as they were written last, also after damage
}

const (
	logExt      = ".mem"
	logHead     = 20
	inTxn       = 1 << 6
	endsTxn     = 1 << 7
	maxLogKey   = 1 << 16
	logChecksum = 4
)

// readLogs reads the logs of a store, the oldest first.
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

// logNames are the files of the logs, the oldest first.
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
	at, open := logHead, uint64(0) // the transaction that an entry belongs to; 0: none has begun
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

// salvage looks for whole transactions after the end, to know what is lost.
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
	if c, err := decodeCounters(e.value); err == nil {
		l.counters = &c
	}
}

type logEntry struct {
	meta       byte
	txn        uint64
	key, value []byte
	size       int
}

// readEntry reads the entry at a place; false: there is no whole one.
func readEntry(b []byte, at int) (e logEntry, ok bool) {
	if at+2 > len(b) || b[at]&^0xC1 != 0 || b[at] == 0 || b[at+1] != 0 {
		return e, false
	}
	e.meta = b[at]
	d := decoder{b: b[at+2:]}
	keyLen, valueLen := d.varint(), d.varint()
	if expires := d.varint(); d.err != nil || expires != 0 || keyLen < 8 || keyLen > maxLogKey {
		return e, false
	}
	head := len(b) - at - len(d.b)
	key, value := d.bytes(keyLen), d.bytes(valueLen)
	check := d.bytes(logChecksum)
	if d.err != nil {
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

// A Loss is what a power cut cost, or rotten bytes. All of it that can be known is pending
// again.
type Loss struct {
	Transactions uint64 // of which something was found after a gap in the logs
	Records      int64  // pages and other answers that were recorded in them

	Damage  []Damage // what is wrong with which files
	Missing int64    // pages and other answers that were in them
	Pending int64    // URLs that are to be fetched again for it
	Names   bool     // settings, seeds, or what is known of a feed may have been in them

	counters *counters
}

// afterGap returns the logs from the first gap on, and what of them is lost: tables is
// the number of the last transaction that is in tables. A log that is not whole stays up
// to its damage. An empty one is no gap: it may have been flushed, and come back.
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

// syncLogs syncs all logs that are there, the oldest first, and their names. One that
// has become a table meanwhile is gone, and its table was synced.
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
