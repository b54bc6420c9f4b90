// Package newest finds the records of a corpus that later records with the same name replace, as the newest
// version of a page replaces the earlier ones.
//
// A later record may always follow, so [Find] reads the whole corpus. It sorts the names on disk, and keeps
// one byte for each record in memory.
package newest

import (
	"context"
	"encoding/binary"
	"errors"

	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/internal/join"
)

// Verdict is the verdict on a record that a later one replaces.
const Verdict dedup.VerdictKind = "replaced"

// Replaced are the records that later ones replace. The zero value has none.
type Replaced struct {
	Count int
	has   []bool // by the number of the record
}

// Has reports whether a later record replaces r.
func (all *Replaced) Has(r *corpus.Record) bool { return r.Num < len(all.has) && all.has[r.Num] }

// Find reads the names of all records. A record that cannot be read or has no text replaces no other, and is
// not reported. documents may be nil. The argument bytes is the memory of the process, about which Find tries to stay.
func Find(ctx context.Context, in *corpus.Inputs, documents *document.Reader, bytes int64) (all Replaced, err error) {
	var names join.Sorter
	defer func() { err = errors.Join(err, names.Close()) }()
	err = ingest.EachRecord(ctx, in.Records(ctx), documents, bytes, func(ctx context.Context, r *corpus.Record) (func() error, error) {
		t, err := ingest.TextOf(ctx, r, extract.Options{SkipLang: true})
		r.Drop()
		if ctx.Err() != nil || err != nil || t.Doc == nil || t.Placed {
			return func() error { return nil }, ctx.Err()
		}
		name := dedup.HashOf([]byte(t.URL))
		return func() error { return names.Add(binary.BigEndian.AppendUint64(name[:], uint64(r.Num))) }, nil
	})
	if err != nil {
		return all, err
	}
	var name dedup.Hash
	last := -1
	for row, err := range names.Sorted() {
		if err != nil {
			return all, err
		}
		now, num := dedup.Hash(row[:len(name)]), int(binary.BigEndian.Uint64(row[len(name):]))
		if now == name && last >= 0 {
			all.has = append(all.has, make([]bool, max(0, last+1-len(all.has)))...)
			all.has[last] = true
			all.Count++
		}
		name, last = now, num
	}
	return all, nil
}
