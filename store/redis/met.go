package redis

import (
	"fmt"
	"slices"

	"skink/dedup"
	"skink/store"
)

// # Leaders that are met again
//
// A crawl meets the leaders of one template on page after page. The sketch of a visit does not
// change, so those that were met lately, and those that were committed here, are not read again.
//
// A leader that is remembered may have been visited again since, by another worker: what is
// replaced here is forgotten at once. Then a verdict that names it is refused, for a commit looks
// whether the leader is still the visit that its look-up met; and what the look-up met is
// forgotten, so that the next one reads it. A leader that no verdict names does no harm by being
// met in vain. It is the same with the copy from which a verdict is taken over, and with the leader that
// it follows: which visit that is is remembered (where), or is what stands in the copy's record. Whoever
// does not trust a copy asks anew, and gets what is read then; and so does who judges a page again,
// for a verdict that is what it was is not committed.
//
// Of a page that has the same text its record is wanted, and that of the leader which it follows. A
// visit that is only noted again (Touch) keeps all in it that a verdict could rest on. So records are
// remembered in the same way: of those that were committed here, that came along, or that were read
// for this.
//
// Of a text is remembered which page has it first. No later one can be earlier. If that page is
// remembered too, and the leader that it follows, a page of that text is not looked up at all.
//
// A leader that is met for the first time is about to be compared word by word. So its text comes
// along with its sketch, and waits for whoever asks for it. With the texts of those that are new
// come those that are remembered and whose texts were not read here. A leader whose sketch says
// that it is too far off is read in vain, once by each worker.

const (
	mostMet   = 1 << 13 // leaders that are remembered: 4 MB, twice that at most
	mostPages = 1 << 13 // records that are remembered: 8 MB, twice that at most
	mostAlong = 1 << 9  // texts that wait: some MB

	// mostHashes is how many texts are remembered to be those of pages: 5 MB, twice that at most.
	mostHashes = 1 << 16

	// alongAtOnce is how many texts come with one look-up, those of the leaders that share the most
	// keys with the page: as many as it is compared with.
	alongAtOnce = 32
)

// A metLeader is one that is remembered.
type metLeader struct {
	*placedLeader
	read bool // its text was read here
}

// remembered is a leader that is known here; nil: it has to be read.
func (s *Store) remembered(v visit) *metLeader {
	if s.session == "" { // nothing is committed here, so nobody would notice what is no longer true
		return nil
	}
	l, _ := s.met.get(v)
	return l
}

// alongSuffixes name the fields of a visit that come along with its sketch: its record and text.
var alongSuffixes = suffixesOf(store.WantText)

// readAlong is a leader that was read with its sketch, with its text, once; nil: it was not.
func (s *Store) readAlong(v visit, want store.Want) (*content, error) {
	if want != store.WantText {
		return nil, nil
	}
	values, ok := s.along.take(v)
	if !ok {
		return nil, nil
	}
	c, err := s.readContent(v, alongSuffixes, values)
	if err != nil {
		return nil, fmt.Errorf("visit %d of partition %d: %w", v.n, v.part, err)
	}
	s.remember(c)
	return c, nil
}

// remember keeps the record of a page that was read or committed here; c may be nil.
func (s *Store) remember(c *content) {
	if c == nil || s.session == "" {
		return
	}
	s.pages.put(c.visit, &content{Content: store.Content{Record: c.Record}, visit: c.visit, place: c.place, hash: c.hash, follows: c.follows})
}

// pageAt is the page of a visit with its record, if it is known here; nil: it has to be read.
func (s *Store) pageAt(v visit) *content {
	if s.session == "" { // as with those that are met
		return nil
	}
	if c, ok := s.pages.get(v); ok {
		copied := *c
		return &copied
	}
	values, ok := s.along.get(v)
	if !ok {
		return nil
	}
	c, err := s.readContent(v, wholeSuffixes[:1], values[:1])
	if err != nil {
		return nil
	}
	s.remember(c)
	return c
}

// A metText is what is remembered of a text: the first page that is posted under its hash.
type metText struct {
	id dedup.Hash
	visit
}

// answerMet answers a question about a page whose text was met here lately, if all is known that
// belongs to the answer.
func (s *Store) answerMet(q *question) bool {
	if s.session == "" || len(q.Hashes) != 1 || q.Anew {
		return false
	}
	text, met := s.hashes.get(q.Hashes[0])
	if !met || text.id == q.ID {
		return false
	}
	page := s.pageAt(text.visit)
	if page == nil || page.hash != q.Hashes[0] || page.Record.ID != text.id {
		return false
	}
	q.mark = newMark()
	if q.copies(page); page.Record.Follows() {
		if _, known := s.followMet(q); !known {
			return false
		}
	}
	return true
}

// forgetMet forgets what the look-up of an entry met.
func (s *Store) forgetMet(e *store.Entry) {
	saw := unpack(e.Basis.Mark)
	for id, t := range saw.leaders {
		s.met.take(t.visit())
		s.along.take(t.visit())
		s.pages.take(t.visit())
		s.where.put(id, visit{part: t.visit().part})
	}
	s.hashes.take(e.Record.Hash)
	s.hashes.take(e.Hash) // that of a page which must not be indexed is another
}

// keep remembers what an entry that was committed may be asked for: its record if it is posted under
// its text, and its sketch if it leads.
func (c *commit) keep(place uint64) {
	e := c.entry
	if c.touches() {
		return
	}
	if !e.Hash.IsZero() {
		if slices.Contains(e.Basis.Hashes, e.Hash) && c.saw.lists[textList(e.Hash)].count == 0 {
			c.store.hashes.put(e.Hash, metText{e.Record.ID, c.visit()})
		} else if text, _ := c.store.hashes.get(e.Hash); text.id == e.Record.ID {
			c.store.hashes.take(e.Hash) // it was first, and is posted anew
		}
		c.store.remember(&content{Content: store.Content{Record: e.Record}, visit: c.visit(), place: place, hash: e.Hash, follows: c.follows.visit()})
	}
	if e.Sketch == nil || len(e.Keys) == 0 {
		return
	}
	l := &placedLeader{store.Leader{ID: e.Record.ID, Hash: e.Record.Hash, Sketch: *e.Sketch}, place}
	c.store.met.put(c.visit(), &metLeader{l, false})
	c.store.where.put(e.Record.ID, c.visit())
}
