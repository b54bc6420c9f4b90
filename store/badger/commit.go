package badger

import (
	"bytes"
	"context"
	"fmt"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

// Commit implements [store.Index]. A transaction costs more than the writes of one page, so the
// entries of concurrent calls are written together, in order. Visits are numbered under the store's
// lock, so a reader that sees a visit also sees all visits with lower numbers.
func (s *Store) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.Valid(entries); err != nil {
		return nil, err
	}
	if err := s.mayGrow(); err != nil {
		return nil, err
	}
	return s.commits.Ask(context.WithoutCancel(ctx), entries)
}

// commitAll writes the entries of several Commit calls in one batch. If that fails, all calls get
// its error.
func (s *Store) commitAll(calls [][]*store.Entry) ([][]store.Outcome, error) {
	outcomes := make([][]store.Outcome, len(calls))
	err := s.write(context.Background(), func(b *batch) {
		for i, entries := range calls {
			outcomes[i] = b.commit(entries)
		}
		b.sweep()
	})
	return outcomes, err
}

func (b *batch) commit(entries []*store.Entry) []store.Outcome {
	outcomes := make([]store.Outcome, len(entries))
	for i, e := range entries {
		if b.err != nil {
			break
		}
		if outcomes[i] = b.entry(e); b.err != nil {
			b.err = fmt.Errorf("commit %s: %w", e.Record.URL, b.err)
		}
		if outcomes[i] == store.Stale {
			break
		}
	}
	return outcomes
}

// entry writes one entry in the order that package store describes. Data that may be left without a
// record after a crash is written first. The record and the final state of the URL are written
// last, in one transaction.
func (b *batch) entry(e *store.Entry) store.Outcome {
	if e.Claim != (frontier.Claim{}) {
		if _, err := b.s.queue.holder(e.Claim); err != nil {
			return store.Lost
		}
	}
	was := b.standing(e)
	if was.num != 0 && !e.Revisit && !e.Touch {
		b.rest(0, e, was)
		return store.Kept
	}
	if !e.Replaces.IsZero() && (was.record == nil || !was.record.Updated().Equal(e.Replaces)) || b.stale(e) || b.err != nil {
		return store.Stale
	}
	if e.Touch && was.num != 0 {
		b.relink(was.num, e.Out)
		b.rest(0, e, was)
		return store.Written
	}
	// The transaction that first uses the number of a visit also stores it in the counters, so no number is used twice.
	b.s.last++
	num := b.s.last
	b.counters().Numbers = num
	b.content(num, e)
	b.rest(num, e, was)
	return store.Written
}

// standing is what is stored about the page of an entry. It has no record if the entry keeps the
// stored one.
type standing struct {
	known
	stored
}

func (b *batch) standing(e *store.Entry) (was standing) {
	page := b.s.handedPage(e.Record.ID)
	if page != nil && page.fetched && e.Touch && e.State == frontier.Fetched { // its u key stays as it is
		return standing{page.known(), page.stored}
	}
	was.known = b.known(e.Record.ID)
	switch {
	case was.num == 0 || !e.Revisit && !e.Touch:
	case page != nil && page.num == was.num:
		was.stored = page.stored
	default:
		was.stored, b.err = readVisits(b.txn).stored(was.num)
	}
	return was
}

// rest writes what follows the text and sketch of an entry: new URLs, postings, the record, and the
// final state of the URL. num is the number of the new visit, or 0 if the page keeps its stored
// visit.
func (b *batch) rest(num uint64, e *store.Entry, was standing) {
	for _, it := range e.Links {
		b.discover(it)
	}
	b.exclude(e.Beyond)
	if len(e.Links)+len(e.Beyond) > 0 { // one of them may be the page itself
		was.known = b.known(e.Record.ID)
	}
	for name, value := range e.Named {
		b.setMeta(name, value)
	}
	if b.err == nil {
		b.end(num, e, was)
	}
}

func (b *batch) content(num uint64, e *store.Entry) {
	switch {
	case e.Text == nil:
	case b.s.texts == nil:
		b.parts(keyText, num, e.Text)
	default:
		b.put(partKey(keyText, num, 0), b.s.texts.add(e.Text))
	}
	if e.Out != nil {
		b.parts(keyOut, num, e.Out)
	}
	if e.Sketch != nil || len(e.Keys) > 0 {
		b.put(pageKey(keySketch, num), encodeIndexed(e))
	}
}

// parts writes a value of any length for visit num, under successive keys with the given letter.
func (b *batch) parts(letter byte, num uint64, value []byte) {
	b.cut(value, func(part int) []byte { return partKey(letter, num, part) })
}

// cut writes a value of any length in pieces of partSize bytes, each under the key of its number,
// from 0. An empty value is written as one empty piece.
func (b *batch) cut(value []byte, key func(piece int) []byte) {
	for piece := 0; piece == 0 || len(value) > 0; piece++ {
		n := min(len(value), partSize)
		b.put(key(piece), value[:n])
		value = value[n:]
	}
}

// relink replaces the stored links of visit num with out, a packed list of links. It writes nothing
// if out is nil or equals the stored links, as it usually does if the page has not changed.
func (b *batch) relink(num uint64, out []byte) {
	if out == nil {
		return
	}
	before, _, err := packedParts(b.txn, keyOut, num)
	if b.fail(err); err != nil || bytes.Equal(before, out) {
		return
	}
	for part := range (len(before) + partSize - 1) / partSize { // delete the old list first, because it may have more pieces
		b.drop(partKey(keyOut, num, part))
	}
	b.parts(keyOut, num, out)
}

// post adds visit num to the index under keys of one kind.
func (b *batch) post(num uint64, kind postings.Kind, keys ...uint64) {
	b.postings = append(b.postings, postings.Posted{Num: num, Kind: kind, Keys: keys})
	for _, key := range keys {
		b.posted[postings.Mixed(key, kind)] = num
	}
}

// end writes the record of an entry, the keys under which the record is found, and the final state
// of its URL, all in one transaction.
func (b *batch) end(num uint64, e *store.Entry, was standing) {
	r, u, before := &e.Record, was.known, was.known
	var value []byte
	switch {
	case num != 0:
		value = b.s.encodeRecord(e.Hash, r)
	case e.Touch && was.record == nil:
		b.fail(fmt.Errorf("%w: record %d is missing", store.ErrCorrupt, u.num))
		return
	case e.Touch:
		value = r.AppendUpdate(nil, was.written)
	}
	b.room(11, len(value)+4*len(r.URL)+len(r.Via)+len(r.From)+runRoom)
	if num != 0 || e.Touch {
		b.s.handed.Delete(r.ID)
	}
	if num != 0 {
		b.obsolete(u.num, was.record)
		u.num = num
		b.record(num, e, value, was.known == (known{num: was.num}))
	} else if e.Touch {
		b.set(numKey(keyUpdate, u.num), value, 0)
		b.counters().Tally.Remove(was.record)
		b.counters().Tally.Add(r)
	}
	if u.again {
		b.endInRun(&u, before.num, e)
	} else if e.State != frontier.Unknown && u.state == frontier.Pending {
		b.unqueue(r.URL, u.place)
		b.move(frontier.Pending, e.State)
		u.state = e.State
	}
	if before.again { // the stored state
		before.state, before.again, before.was = before.was, false, frontier.Unknown
	}
	if u.again {
		u.state, u.again = u.was, false
	}
	if u.was = frontier.Unknown; u != before {
		b.setKnown(r.ID, u)
	}
}

// aloneMeta is the user metadata of the record of a URL that was never discovered; other keys have 0.
const aloneMeta = 1

// record writes the record of visit num and the data used to find it: its postings, and its key in
// the list of its leader's members. alone says that the URL was never discovered.
func (b *batch) record(num uint64, e *store.Entry, value []byte, alone bool) {
	r, meta := &e.Record, byte(0)
	if alone {
		meta = aloneMeta
	}
	b.set(pageKey(keyRecord, num), value, meta)
	if len(e.Keys) > 0 {
		b.post(num, postings.Band, e.Keys...)
	}
	if !e.Hash.IsZero() {
		b.post(num, postings.Hash, filterKey(e.Hash))
	}
	if r.Follows() {
		b.set(memberKey(r.Leader, r.Resemblance, num), nil, 0)
	}
	c := b.counters()
	c.Records++
	c.Tally.Add(r)
}

// obsolete marks the data of visit num, which a new visit replaces, as obsolete. The postings of the
// visit stay: lookups ignore them from now on, and the next merge of their segment drops them. It
// does nothing if the visit has no record.
func (b *batch) obsolete(num uint64, r *store.Record) {
	if r == nil {
		return
	}
	if r.Follows() {
		b.delete(memberKey(r.Leader, r.Resemblance, num))
	}
	b.set(numKey(keyObsolete, num), nil, 0)
	b.set(numKey(keyGone, num), nil, 0)
	b.gone = append(b.gone, num)
	c := b.counters()
	c.Obsolete++
	c.Records--
	c.Tally.Remove(r)
}

const hashSize = len(dedup.Hash{})
