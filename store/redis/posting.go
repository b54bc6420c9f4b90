package redis

import (
	"context"
	"sync"

	"skink/dedup"
	"skink/store"
)

// post makes the postings of an entry, at the beginning of its commit as a visit, and says
// whether its verdict holds. If it does not, none of its postings is left.
func (s *Store) post(ctx context.Context, e *store.Entry, v visit) (holds bool, err error) {
	saw := unpack(e.Basis.Mark)
	stands := standsOf(e, &saw)
	var moved bool
	var movedErr error
	var wg sync.WaitGroup
	wg.Go(func() { moved, movedErr = s.leaderMoved(ctx, e, &saw) })
	if holds = true; len(stands) > 0 {
		holds, err = s.settler().enter(ctx, v.ticket(), stands)
	}
	if wg.Wait(); err == nil {
		err = movedErr
	}
	if err != nil || !holds || !moved {
		return holds, err
	}
	return false, s.settle(ctx, e, v, false)
}

// settle ends what post began, when it is known whether the entry was written.
func (s *Store) settle(ctx context.Context, e *store.Entry, v visit, written bool) error {
	if written {
		return nil
	}
	return s.settler().withdraw(ctx, v.ticket(), standsOf(e, &mark{}))
}

func (s *Store) settler() *committer { return &committer{servers{s}, outwaited} }

// leaderMoved says whether the leader that an entry names is another visit than the one
// that its look-up met. One that was not in the store then and is not now has not moved.
func (s *Store) leaderMoved(ctx context.Context, e *store.Entry, saw *mark) (bool, error) {
	if e.Basis.Mark == "" || !e.Record.Follows() {
		return false, nil
	}
	now, err := s.visitOf(ctx, []dedup.Hash{e.Record.Leader})
	if err != nil {
		return false, err
	}
	if now[0].n == 0 {
		return saw.leaders[e.Record.Leader] != 0, nil
	}
	return now[0].ticket() != saw.leaders[e.Record.Leader], nil
}

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
