package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"skink/dedup"
	"skink/store"
)

// A question is an Ask on its way to its answer.
type question struct {
	*store.Ask
	texts, keys []*listRead
	found       store.Found
	copyPlace   uint64 // of found.Copy
	mark        mark
}

// firstTexts is how many pages of one text are read to find the earliest: nearly always
// the first is it, but for a page's own earlier visits.
const firstTexts = 4

// Lookup reads all lists of all questions in one round trip, and what is known of the
// visits in them in another. A third is for visits that are not in the store, for texts
// whose first pages were visited again, and for the leaders of copies.
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	all := make([]store.Found, len(asks))
	questions := make([]*question, len(asks))
	for i := range asks {
		questions[i] = newQuestion(&asks[i])
	}
	for open := questions; len(open) > 0; {
		again, err := s.answer(ctx, open)
		if err != nil {
			return nil, fmt.Errorf("look up: %w", err)
		}
		open = again
	}
	for i, q := range questions {
		q.found.Mark = q.mark.pack()
		all[i] = q.found
	}
	return all, nil
}

func newQuestion(ask *store.Ask) *question {
	q := &question{Ask: ask}
	for _, h := range ask.Hashes {
		q.texts = append(q.texts, &listRead{list: textList(h), limit: firstTexts})
	}
	for _, key := range ask.Keys {
		q.keys = append(q.keys, &listRead{list: keyList(key), limit: max(ask.Limit, 0) + 1})
	}
	return q
}

// answer answers questions as far as it can be done at once, and returns those that have to
// be asked again: because more of a list has to be read, or because void postings were
// removed from one that was not read to its end.
func (s *Store) answer(ctx context.Context, questions []*question) (again []*question, err error) {
	var reads []*listRead
	for _, q := range questions {
		q.found, q.mark = store.Found{}, mark{lists: map[listID]seen{}, leaders: map[dedup.Hash]ticket{}}
		reads = append(append(reads, q.texts...), q.keys...)
	}
	if err := s.readLists(ctx, reads); err != nil {
		return nil, err
	}
	known, err := s.meet(ctx, questions)
	if err != nil {
		return nil, err
	}
	if err := s.sweep(ctx, reads, known); err != nil {
		return nil, err
	}
	for _, q := range questions {
		if q.conclude(known) {
			again = append(again, q)
		}
	}
	return again, s.leadersOfCopies(ctx, questions)
}

// A met is what is known of the visits that were met.
type met struct {
	texts   map[ticket]bool          // met under a text hash
	keys    map[ticket]bool          // met under a key
	pages   map[ticket]*content      // of those under a text hash
	leaders map[ticket]*placedLeader // of those under a key; nil: it has no sketch
	fates   map[ticket]fate
}

// meet reads what is known of the visits in the lists of questions.
func (s *Store) meet(ctx context.Context, questions []*question) (*met, error) {
	m := &met{texts: map[ticket]bool{}, keys: map[ticket]bool{}, pages: map[ticket]*content{}, leaders: map[ticket]*placedLeader{}}
	var all []ticket
	for _, q := range questions {
		all = gather(all, m.texts, q.texts)
		all = gather(all, m.keys, q.keys)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var err error
	m.fates, err = learn(all, func(tickets []ticket) ([]bool, error) { return m.read(ctx, s, tickets) },
		func(tickets []ticket) ([]fate, error) { return servers{s}.fates(ctx, tickets) })
	return m, err
}

// gather adds the tickets in lists to all, those that are new to a set.
func gather(all []ticket, set map[ticket]bool, reads []*listRead) []ticket {
	for _, r := range reads {
		for _, t := range r.tickets {
			if !set[t] {
				set[t] = true
				all = append(all, t)
			}
		}
	}
	return all
}

// read reads what visits hold: the record of one that was met under a text hash, and the
// sketch of one that was met under a key. It says which hold any of it.
func (m *met) read(ctx context.Context, s *Store, tickets []ticket) (found []bool, err error) {
	var texts, keys []visit
	for _, t := range tickets {
		if m.texts[t] {
			texts = append(texts, t.visit())
		}
		if m.keys[t] {
			keys = append(keys, t.visit())
		}
	}
	var wg sync.WaitGroup
	var pages []*content
	var pagesErr error
	wg.Go(func() { pages, pagesErr = s.visits(ctx, texts, store.WantRecord) })
	leaders, err := s.sketches(ctx, keys)
	wg.Wait()
	if err = cmp.Or(pagesErr, err); err != nil {
		return nil, err
	}
	for i, page := range pages {
		m.pages[texts[i].ticket()] = page
	}
	for i, l := range leaders {
		m.leaders[keys[i].ticket()] = l
	}
	for _, t := range tickets {
		found = append(found, (!m.texts[t] || m.pages[t] != nil) && (!m.keys[t] || m.leaders[t] != nil))
	}
	return found, nil
}

// sweep takes void tickets out of the lists in which they were met.
func (s *Store) sweep(ctx context.Context, reads []*listRead, known *met) error {
	lists := map[ticket][]listID{}
	for _, r := range reads {
		for _, t := range r.tickets {
			if known.fates[t] == void {
				lists[t] = append(lists[t], r.list)
			}
		}
	}
	for t, from := range lists {
		if err := (servers{s}).remove(ctx, t, from); err != nil {
			return err
		}
	}
	return nil
}

// conclude makes an answer of what is known, or says that the question must be asked again.
func (q *question) conclude(known *met) (again bool) {
	for i, r := range q.texts {
		tickets, _, s := read(r.tickets, known.fate)
		q.mark.saw(r.list, s)
		if found := q.earliest(tickets, known, q.Hashes[i]); !found && r.more {
			r.limit *= 16
			again = true
		}
	}
	if again || q.found.Copy != nil {
		return again
	}
	return q.meetLeaders(known)
}

func (m *met) fate(t ticket) fate { return m.fates[t] }

// saw notes how far a list was read.
func (m *mark) saw(list listID, s seen) {
	if s.count > 0 {
		m.lists[list] = s
	}
}

// earliest takes the earliest page that is posted under a text hash, if it is earlier than
// what was found under another, and says whether there is one at all.
func (q *question) earliest(tickets []ticket, known *met, hash dedup.Hash) (found bool) {
	for _, t := range tickets {
		page := known.pages[t]
		if page == nil || page.hash != hash || page.Record.ID == q.ID {
			continue
		}
		found = true
		if q.found.Copy == nil || page.place < q.copyPlace {
			q.found.Copy, q.copyPlace = &page.Record, page.place
			q.mark.leaders = map[dedup.Hash]ticket{page.Record.ID: t}
		}
	}
	return found
}

// meetLeaders finds the leaders under enough of the keys.
func (q *question) meetLeaders(known *met) (again bool) {
	times := map[ticket]int{}
	q.found.Full = make([]bool, len(q.keys))
	for i, r := range q.keys {
		tickets, voided, s := read(r.tickets, known.fate)
		tickets = distinct(tickets)
		limit := max(q.Limit, 0)
		again = again || r.more && len(voided) > 0
		q.found.Full[i] = r.more || len(tickets) > limit
		if !q.found.Full[i] {
			q.mark.saw(r.list, s)
		}
		for _, t := range tickets[:min(limit, len(tickets))] {
			times[t]++
		}
	}
	var leaders []*placedLeader
	for t, n := range times {
		if l := known.leaders[t]; l != nil && n >= q.Meet && l.ID != q.ID {
			leaders = append(leaders, l)
			q.mark.leaders[l.ID] = t
		}
	}
	slices.SortFunc(leaders, func(a, b *placedLeader) int { return cmp.Compare(a.place, b.place) })
	for _, l := range leaders {
		q.found.Leaders = append(q.found.Leaders, l.Leader)
	}
	return again
}

// distinct leaves out tickets that were posted twice, because the first answer was lost.
func distinct(list []ticket) []ticket {
	once := make(map[ticket]bool, len(list))
	return slices.DeleteFunc(list, func(t ticket) bool {
		twice := once[t]
		once[t] = true
		return twice
	})
}

// leadersOfCopies notes where the leaders are that copies follow, for a page of their text
// will follow them too.
func (s *Store) leadersOfCopies(ctx context.Context, questions []*question) error {
	var ids []dedup.Hash
	var of []*question
	for _, q := range questions {
		if q.found.Copy != nil && q.found.Copy.Follows() {
			ids, of = append(ids, q.found.Copy.Leader), append(of, q)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	where, err := s.visitOf(ctx, ids)
	for i, v := range where {
		if v.n != 0 {
			of[i].mark.leaders[ids[i]] = v.ticket()
		}
	}
	return err
}
