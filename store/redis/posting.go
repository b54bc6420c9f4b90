package redis

import (
	"context"

	"github.com/redis/rueidis"

	"skink/dedup"
	"skink/store"
)

// post makes the postings of an entry, at the beginning of its commit as a visit, and says
// whether its verdict holds. If it does not, none of its postings is left. Some talks are held along
// with that.
func (s *Store) post(ctx context.Context, e *store.Entry, saw *mark, v visit, along ...talk) (holds bool, err error) {
	stay := [2]bool{true, true}
	for i, v := range saw.named(e) {
		if v.n == 0 {
			if v, holds, err = s.unmet(ctx, e); err != nil || !holds {
				return false, err
			}
		}
		if v.n != 0 {
			along = append(along, s.asks(v, &stay[i]))
		}
	}
	if stands := standsOf(e, saw); len(stands) > 0 {
		holds, err = s.settler(along...).enter(ctx, v.ticket(), stands)
	} else {
		holds, err = true, s.hold(ctx, along...)
	}
	if err != nil || !holds || stay[0] && stay[1] {
		return holds, err
	}
	return false, s.settle(ctx, e, v, false)
}

// named are the visits that the verdict of an entry names: its leader, number 0 if the look-up did not
// meet it, and the copy from which it was taken over, if that follows the leader.
func (m *mark) named(e *store.Entry) (visits []visit) {
	if e.Basis.Mark == "" || !e.Record.Follows() {
		return nil
	}
	visits = append(visits, m.leaders[e.Record.Leader].visit())
	if m.copied != 0 {
		visits = append(visits, m.copied.visit())
	}
	return visits
}

// unmet finds the leader of an entry that its look-up did not meet, and says whether it is as the entry
// has it: it was read later, or is not in the store.
func (s *Store) unmet(ctx context.Context, e *store.Entry) (leader visit, is bool, err error) {
	at, err := s.visitOf(ctx, []dedup.Hash{e.Record.Leader})
	if err != nil {
		return visit{}, false, err
	}
	if there, read := at[0].n != 0, !e.Basis.Twin.IsZero(); !there || !read {
		return visit{}, there == read, nil
	}
	contents, err := s.visits(ctx, at, store.WantRecord)
	if err != nil || contents[0] == nil {
		return visit{}, false, err
	}
	return at[0], contents[0].Record.Began().Equal(e.Basis.Twin), nil
}

// asks is whether a visit is still the last of its page: one that another replaced is gone.
func (s *Store) asks(v visit, is *bool) talk {
	chunk, field := s.recordAt(v)
	return &remark{cmd: s.B().Hexists().Key(chunk).Field(field).Build(), heard: func(result rueidis.RedisResult) (err error) {
		*is, err = result.AsBool()
		return explain(err)
	}}
}

// settle ends what post began, when it is known whether the entry was written.
func (s *Store) settle(ctx context.Context, e *store.Entry, v visit, written bool) error {
	if written {
		return nil
	}
	return s.settler().withdraw(ctx, v.ticket(), standsOf(e, &mark{}))
}

func (s *Store) settler(along ...talk) *committer { return &committer{servers{s, along}, outwaited} }

// standsOf is what an entry wants with lists: under its hash and its keys it is posted,
// and its verdict rests on those of its basis.
func standsOf(e *store.Entry, saw *mark) []stand {
	var stands []stand
	at := map[listID]int{}
	of := func(l listID) *stand {
		i, ok := at[l]
		if !ok {
			i = len(stands)
			at[l] = i
			stands = append(stands, stand{list: l, seen: saw.lists[l]})
		}
		return &stands[i]
	}
	if !e.Hash.IsZero() {
		of(textList(e.Hash)).post = true
	}
	for _, key := range e.Keys {
		of(keyList(key)).post = true
	}
	for _, h := range e.Basis.Hashes {
		of(textList(h)).heed = true
	}
	for _, key := range e.Basis.Keys {
		of(keyList(key)).heed = true
	}
	return stands
}
