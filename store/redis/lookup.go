package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skink/dedup"
	"skink/store"
)

// A question is an Ask on its way to its answer.
type question struct {
	*store.Ask
	texts, keys []*listRead
	found       store.Found
	copyPlace   uint64  // of found.Copy
	copyFollows visit   // its leader, when it was committed; number 0: none
	met         metText // the copy, if it is to be remembered
	mark        mark
}

// firstTexts is how many pages of one text are read to find the earliest: nearly always
// the first is it, but for a page's own earlier visits.
const firstTexts = 4

// Lookup reads all lists of all questions in one round trip, and what is known of the
// visits in them in another. A third is for visits that are not in the store, for texts
// whose first pages were visited again, and for the leaders of copies that are not known here.
// A question whose answer is known here takes none, see met.go.
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	s.heed()
	all := make([]store.Found, len(asks))
	questions := make([]*question, len(asks))
	var open []*question
	for i := range asks {
		questions[i] = s.newQuestion(&asks[i])
		if !s.answerMet(questions[i]) {
			open = append(open, questions[i])
		}
	}
	for len(open) > 0 {
		again, err := s.answer(ctx, open)
		if err != nil {
			return nil, fmt.Errorf("look up: %w", err)
		}
		open = again
	}
	for i, q := range questions {
		q.found.Mark = q.mark.pack()
		all[i] = q.found
		if q.met != (metText{}) {
			s.hashes.put(q.Hashes[0], q.met)
		}
	}
	return all, nil
}

// newQuestion begins a question. Of a page whose text was met here lately, as another's, the keys are
// left out, for where there is a copy nobody looks for leaders. Who asks anew was told already of a
// copy that is not trusted.
func (s *Store) newQuestion(ask *store.Ask) *question {
	q := &question{Ask: ask}
	copied := false
	for _, h := range ask.Hashes {
		q.texts = append(q.texts, &listRead{list: textList(h), limit: firstTexts})
		text, met := s.hashes.get(h)
		copied = copied || met && text.id != ask.ID && !ask.Anew
	}
	if !copied {
		q.readKeys()
	}
	return q
}

func (q *question) readKeys() {
	for _, key := range q.Keys {
		q.keys = append(q.keys, &listRead{list: keyList(key), limit: max(q.Limit, 0) + 1})
	}
}

// answer answers questions as far as it can be done at once, and returns those that have to
// be asked again: because more of a list has to be read, or because void postings were
// removed from one that was not read to its end.
func (s *Store) answer(ctx context.Context, questions []*question) (again []*question, err error) {
	var reads []*listRead
	for _, q := range questions {
		q.found, q.mark, q.met = store.Found{}, newMark(), metText{}
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
	texts   map[ticket]int           // met under a text hash, and how often
	keys    map[ticket]int           // met under a key, and under how many
	own     *lastVisit               // the last visit of the page that asks; nil: it is not known
	anew    bool                     // records and sketches are read, even if they are remembered
	pages   map[ticket]*content      // of those under a text hash
	leaders map[ticket]*placedLeader // of those under a key; nil: it has no sketch
	fates   map[ticket]fate
}

// meet reads what is known of the visits in the lists of questions.
func (s *Store) meet(ctx context.Context, questions []*question) (*met, error) {
	m := &met{texts: map[ticket]int{}, keys: map[ticket]int{}, pages: map[ticket]*content{}, leaders: map[ticket]*placedLeader{}}
	if len(questions) == 1 { // among several, others might meet it
		m.own = s.stillKept(questions[0].ID)
	}
	var all []ticket
	for _, q := range questions {
		m.anew = m.anew || q.Anew
		all = gather(all, m.texts, q.texts)
		all = gather(all, m.keys, q.keys)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var err error
	m.fates, err = learn(all, func(tickets []ticket) ([]bool, error) { return m.read(ctx, s, tickets) },
		func(tickets []ticket) ([]fate, error) { return servers{Store: s}.fates(ctx, tickets) })
	return m, err
}

// gather adds the tickets in lists to all, those that are new to a set.
func gather(all []ticket, set map[ticket]int, reads []*listRead) []ticket {
	for _, r := range reads {
		for _, t := range r.tickets {
			if set[t]++; set[t] == 1 {
				all = append(all, t)
			}
		}
	}
	return all
}

// A visitRead is what is to be read of a visit that was met.
type visitRead struct {
	page   bool // its record, as it was met under a text hash
	leader bool // its sketch, as it was met under a key
	along  bool // record and text, see met.go
}

func (r visitRead) suffixes() (all []string) {
	if r.page || r.along {
		all = append(all, "")
	}
	if r.leader {
		all = append(all, "s")
	}
	if r.along {
		all = append(all, "t")
	}
	return all
}

// read reads what visits hold: the record of one that was met under a text hash, and the
// sketch of one that was met under a key. It says which hold any of it.
func (m *met) read(ctx context.Context, s *Store, tickets []ticket) (found []bool, err error) {
	reads := m.reads(s, tickets)
	vs, suffixes := make([]visit, 0, len(reads)), make([][]string, 0, len(reads))
	for v, r := range reads {
		vs, suffixes = append(vs, v), append(suffixes, r.suffixes())
	}
	values, err := s.fields(ctx, vs, suffixes)
	if err != nil {
		return nil, err
	}
	for i, v := range vs {
		if err := m.take(s, v, reads[v], values[i]); err != nil {
			return nil, fmt.Errorf("visit %d of partition %d: %w", v.n, v.part, err)
		}
	}
	for _, t := range tickets {
		found = append(found, (m.texts[t] == 0 || m.pages[t] != nil) && (m.keys[t] == 0 || m.leaders[t] != nil))
	}
	return found, nil
}

// reads is what has to be read of visits. What the page that asks held before is known, and the
// page does not find itself.
func (m *met) reads(s *Store, tickets []ticket) map[visit]visitRead {
	reads := map[visit]visitRead{}
	var leaders, unread []visit
	for _, t := range tickets {
		v := t.visit()
		if m.own != nil && m.own.visit == v {
			m.pages[t], m.leaders[t] = m.own.content, &placedLeader{Leader: store.Leader{ID: m.own.Record.ID}}
			continue
		}
		r := visitRead{page: m.texts[t] > 0}
		if r.page {
			if m.anew {
				s.pages.take(v)
			} else {
				m.pages[t] = s.pageAt(v)
			}
			r.page = m.pages[t] == nil
		}
		if m.keys[t] > 0 {
			if m.anew {
				s.met.take(v)
			}
			if l := s.remembered(v); l == nil {
				r.leader = true
				leaders = append(leaders, v)
			} else if m.leaders[t] = l.placedLeader; !l.read {
				unread = append(unread, v)
			}
		}
		if r.page || r.leader {
			reads[v] = r
		}
	}
	if len(leaders) == 0 || s.session == "" {
		return reads
	}
	along := append(leaders, unread...)
	slices.SortStableFunc(along, func(a, b visit) int { return cmp.Compare(m.keys[b.ticket()], m.keys[a.ticket()]) })
	for _, v := range along[:min(alongAtOnce, len(along))] {
		r := reads[v]
		r.along = true
		reads[v] = r
	}
	return reads
}

// take takes what was read of a visit.
func (m *met) take(s *Store, v visit, r visitRead, values []string) (err error) {
	t, record, text := v.ticket(), "", ""
	if r.page || r.along {
		record, values = values[0], values[1:]
	}
	if r.page {
		page, err := s.readContent(v, wholeSuffixes[:1], []string{record})
		if m.pages[t] = page; err != nil {
			return err
		}
		if page != nil {
			s.where.put(page.Record.ID, v)
			s.remember(page)
		}
	}
	if r.leader {
		if m.leaders[t], err = s.sketchOf(v, values[0]); err != nil {
			return err
		}
		values = values[1:]
	}
	if r.along {
		text = values[0]
	}
	l := m.leaders[t]
	if l == nil || s.session == "" {
		return nil
	}
	if along := r.along && record != ""; along || r.leader {
		s.met.put(v, &metLeader{l, along})
		if along {
			s.along.put(v, []string{record, text})
		}
	}
	return nil
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
		if err := (servers{Store: s}).remove(ctx, t, from); err != nil {
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
		found := q.earliest(tickets, known, q.Hashes[i])
		if !found && r.more {
			r.limit *= 16
			again = true
		}
		if found && len(q.texts) == 1 && !q.itself(tickets, known) {
			c := q.found.Copy
			q.met = metText{c.ID, q.mark.leaders[c.ID].visit()}
		}
	}
	if again || q.found.Copy != nil {
		return again
	}
	if len(q.keys) < len(q.Keys) {
		q.readKeys()
		return true
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
			q.copies(page)
		}
	}
	return found
}

// copies notes of which page the one that asks is a copy.
func (q *question) copies(page *content) {
	q.found.Copy, q.copyPlace, q.copyFollows = &page.Record, page.place, page.follows
	q.mark.leaders = map[dedup.Hash]ticket{page.Record.ID: page.ticket()}
	if q.mark.copied = 0; page.Record.Follows() {
		q.mark.copied = page.ticket()
	}
}

// itself says whether the page that asks is among some that were met.
func (q *question) itself(tickets []ticket, known *met) bool {
	return slices.ContainsFunc(tickets, func(t ticket) bool { return known.pages[t] != nil && known.pages[t].Record.ID == q.ID })
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
	latest := map[dedup.Hash]uint64{} // a page that is visited again meanwhile may be met as it was and as it is
	for t := range times {
		if l := known.leaders[t]; l != nil {
			latest[l.ID] = max(latest[l.ID], l.place)
		}
	}
	var leaders []*placedLeader
	for t, n := range times {
		if l := known.leaders[t]; l != nil && n >= q.Meet && l.ID != q.ID && l.place == latest[l.ID] {
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

// leadersOfCopies finds the leaders that copies follow, for a page of their text will follow them
// too: from memory, else where they were, or are as the record of the copy has it, else by asking.
func (s *Store) leadersOfCopies(ctx context.Context, questions []*question) error {
	var open []*question
	at := map[*question]visit{}
	for _, q := range questions {
		if q.found.Copy == nil || !q.found.Copy.Follows() {
			continue
		}
		if v, known := s.followMet(q); !known {
			open, at[q] = append(open, q), v
		}
	}
	open, err := s.readLeaders(ctx, open, at)
	if len(open) == 0 || err != nil {
		return err
	}
	ids := make([]dedup.Hash, len(open))
	for i, q := range open {
		ids[i] = q.found.Copy.Leader
	}
	where, err := s.visitOf(ctx, ids)
	if err != nil {
		return err
	}
	for i, q := range open {
		at[q] = where[i]
	}
	_, err = s.readLeaders(ctx, open, at)
	return err
}

// followMet finds the leader that the copy follows, if that is known here, and says where it would be
// looked for if not.
func (s *Store) followMet(q *question) (at visit, known bool) {
	id := q.found.Copy.Leader
	if at, known = s.where.get(id); (!known || at.n == 0) && s.session != "" {
		at = q.copyFollows
	}
	if q.Anew {
		return at, false
	}
	c := s.pageAt(at)
	if c == nil || c.Record.ID != id {
		return at, false
	}
	q.follows(&c.Record, at)
	return at, true
}

// readLeaders reads the leaders that the copies of questions follow at some visits, and returns the
// questions whose leaders are not there.
func (s *Store) readLeaders(ctx context.Context, questions []*question, at map[*question]visit) (open []*question, err error) {
	var asked []*question
	var vs []visit
	for _, q := range questions {
		if v := at[q]; v.n != 0 {
			asked, vs = append(asked, q), append(vs, v)
		} else {
			open = append(open, q)
		}
	}
	contents, err := s.visits(ctx, vs, store.WantRecord)
	if err != nil {
		return nil, err
	}
	for i, q := range asked {
		c := contents[i]
		if c == nil || c.Record.ID != q.found.Copy.Leader {
			open = append(open, q)
			continue
		}
		s.where.put(c.Record.ID, vs[i])
		s.remember(c)
		q.follows(&c.Record, vs[i])
	}
	return open, nil
}

// follows notes the leader that the copy follows, and where it is.
func (q *question) follows(leader *store.Record, at visit) {
	q.found.Followed = leader
	q.mark.leaders[leader.ID] = at.ticket()
}
