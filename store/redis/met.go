package redis

import (
	"fmt"

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
// met in vain. It is the same with the leader that a copy follows: which visit it is is remembered
// (where), or is what stands in the copy's record.
//
// A leader that is met for the first time is about to be compared word by word. So its text comes
// along with its sketch, and waits for whoever asks for it. With the texts of those that are new
// come those that are remembered and whose texts were not read here. A leader whose sketch says
// that it is too far off is read in vain, once by each worker.

const (
	mostMet   = 1 << 13 // leaders that are remembered: 4 MB, twice that at most
	mostAlong = 1 << 9  // texts that wait: some MB

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
	return c, nil
}

// forgetMet forgets what the look-up of an entry met.
func (s *Store) forgetMet(e *store.Entry) {
	saw := unpack(e.Basis.Mark)
	for id, t := range saw.leaders {
		s.met.take(t.visit())
		s.along.take(t.visit())
		s.where.put(id, visit{part: t.visit().part})
	}
}

// leads remembers the sketch of an entry that was committed, if it leads.
func (c *commit) leads(place uint64) {
	e := c.entry
	if e.Sketch == nil || len(e.Keys) == 0 || c.touches() {
		return
	}
	l := &placedLeader{store.Leader{ID: e.Record.ID, Hash: e.Record.Hash, Sketch: *e.Sketch}, place}
	c.store.met.put(c.visit(), &metLeader{l, false})
	c.store.where.put(e.Record.ID, c.visit())
}
