package badger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"skink/frontier"
	"skink/store"
)

// Commit writes entries in their order, as many in one transaction as fit.
func (s *Store) Commit(ctx context.Context, entries []*store.Entry) error {
	for _, e := range entries {
		if e.Record.Num == 0 {
			return fmt.Errorf("commit %s: the record has no number", e.Record.URL)
		}
		if e.Record.Num > maxNum {
			return fmt.Errorf("commit %s: number %d is too high", e.Record.URL, e.Record.Num)
		}
		if e.State != frontier.Unknown && !e.State.Ends() {
			return fmt.Errorf("commit %s: state %d is not an end", e.Record.URL, e.State)
		}
	}
	if err := s.disk.check(); err != nil {
		return err
	}
	return s.write(ctx, func(b *batch) error {
		for _, e := range entries {
			if err := b.entry(e); err != nil {
				return fmt.Errorf("commit %s: %w", e.Record.URL, err)
			}
		}
		return nil
	})
}

// entry writes one entry in the order of the contract: what may be left over
// from a crash first, the record and the frontier's done together and last.
func (b *batch) entry(e *store.Entry) error {
	u, err := b.known(e.Record.ID)
	if err != nil {
		return err
	}
	isNew := u.num == 0
	if isNew {
		if err := b.content(e); err != nil {
			return err
		}
	}
	if _, err := b.discover(e.Links); err != nil {
		return err
	}
	if err := b.exclude(e.Beyond); err != nil {
		return err
	}
	if isNew {
		if err := b.post(e); err != nil {
			return err
		}
	}
	return b.end(e, isNew)
}

// content writes text, sketch and raw exchange.
func (b *batch) content(e *store.Entry) error {
	num := e.Record.Num
	if e.Text != nil {
		if err := b.parts(keyText, num, e.Text); err != nil {
			return err
		}
	}
	if e.Sketch != nil {
		value := encodeSketch(e.Sketch)
		if err := b.room(1, len(value)); err != nil {
			return err
		}
		if err := b.set(pageKey(keySketch, num), value); err != nil {
			return err
		}
	}
	if e.Raw != nil {
		return b.parts(keyRaw, num, store.Pack(encodeRaw(e.Raw)))
	}
	return nil
}

// parts writes a value of any length; an empty one is one empty part.
func (b *batch) parts(letter byte, num uint64, value []byte) error {
	for part := 0; part == 0 || len(value) > 0; part++ {
		n := min(len(value), partSize)
		if err := b.room(1, n); err != nil {
			return err
		}
		if err := b.set(partKey(letter, num, part), value[:n]); err != nil {
			return err
		}
		value = value[n:]
	}
	return nil
}

// postedAtOnce is far more than a page has keys, and far less than a
// transaction takes.
const postedAtOnce = 1024

// post writes the postings of a leader.
func (b *batch) post(e *store.Entry) error {
	for keys := range slices.Chunk(e.Keys, postedAtOnce) {
		if err := b.room(0, postedSize(len(keys))); err != nil {
			return err
		}
		b.journal.post(e.Record.Num, bandKind, keys...)
	}
	return nil
}

// end writes the record, what leads to it, and how its URL ended, together.
func (b *batch) end(e *store.Entry, isNew bool) error {
	r := &e.Record
	var value []byte
	if isNew {
		var err error
		if value, err = encodeRecord(e); err != nil {
			return err
		}
	}
	if err := b.room(5, len(value)+len(r.URL)+256+2*postedSize(1)); err != nil {
		return err
	}
	u, err := b.known(r.ID) // again: a page may link to itself
	if err != nil {
		return err
	}
	before := u
	if isNew {
		u.num = r.Num
		if err := b.record(e, value); err != nil {
			return err
		}
	}
	if e.State != frontier.Unknown && u.state == frontier.Pending {
		if err := b.unqueue(r.URL, u.place); err != nil {
			return err
		}
		b.move(frontier.Pending, e.State)
		u.state = e.State
	}
	if u == before {
		return nil
	}
	return b.setKnown(r.ID, u, before == known{})
}

// record writes the record and its entries under its text hash and its leader.
func (b *batch) record(e *store.Entry, value []byte) error {
	r := &e.Record
	if err := b.set(pageKey(keyRecord, r.Num), value); err != nil {
		return err
	}
	if err := b.hash(e); err != nil {
		return err
	}
	if r.Leader != 0 && r.Leader != r.Num {
		if err := b.set(memberKey(r.Leader, r.Resemblance, r.Num), nil); err != nil {
			return err
		}
	}
	b.useNumber(r.Num)
	c := b.counters()
	c.Records++
	c.Tally.Add(r)
	return nil
}

// hash posts the page under its text hash, unless a lower number is. So a text
// that is on a million pages is posted once, or twice if they came together.
func (b *batch) hash(e *store.Entry) error {
	if e.Hash.IsZero() {
		return nil
	}
	first, found, err := b.s.byHash(context.Background(), b.txn, e.Hash)
	if err != nil || found && first < e.Record.Num {
		return err
	}
	b.journal.post(e.Record.Num, hashKind, filterKey(e.Hash))
	return nil
}

// encodeRecord leaves & < > as they are: a URL is full of them.
func encodeRecord(e *store.Entry) ([]byte, error) {
	var b bytes.Buffer
	b.Write(e.Hash[:])
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&e.Record); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
