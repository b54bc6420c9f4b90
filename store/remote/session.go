package remote

import (
	"context"
	"fmt"
	"iter"

	"skink/frontier"
	"skink/store"
)

// A list is sent in parts. A part ends when it has partValues values or partBytes bytes. A round
// trip takes about 50 µs, as long as reading a few records.
const (
	partValues = 256
	partBytes  = 256 << 10
)

// A session answers the requests of one connection from one snapshot, one at a time.
type session struct {
	ctx      context.Context
	from     Snapshot
	swap     Swap
	lists    map[int]*list
	last     int
	maxLists int // maximum number of open lists
}

func (s *session) end() {
	for n := range s.lists {
		s.drop(n)
	}
}

func (s *session) drop(n int) {
	if l := s.lists[n]; l != nil {
		l.stop()
		delete(s.lists, n)
	}
}

func (s *session) answer(q *request) *answer {
	for _, n := range q.Ended {
		s.drop(n)
	}
	a := &answer{}
	if err := s.fill(a, q); err != nil {
		a.Fault = faultOf(err)
	}
	return a
}

func (s *session) fill(a *answer, q *request) (err error) {
	switch q.Verb {
	case askPages:
		a.Part.Pages, err = s.from.PackedPages(s.ctx, q.IDs, q.Want)
	case askEnd:
		a.Cursor, err = s.from.End(s.ctx)
	case askTally:
		a.Tally, err = s.from.Tally(s.ctx)
	case askMeta:
		a.Meta, err = s.from.Meta(s.ctx, q.Name)
		a.IsSet = a.Meta != nil
	case askSwap:
		old := q.Old
		if q.IsSet {
			old = append([]byte{}, old...)
		}
		err = s.swap(s.ctx, q.Name, old, q.Value)
	case askState:
		a.State, err = s.from.State(s.ctx, q.Name)
	case askCounts:
		a.Counts, err = s.from.Counts(s.ctx)
	case askMore:
		return s.more(a, q.List)
	default:
		return s.begin(a, q)
	}
	return err
}

func (s *session) begin(a *answer, q *request) error {
	if len(s.lists) >= s.maxLists {
		return fmt.Errorf("more than %d lists of the store are being read at the same time", s.maxLists)
	}
	l := s.listOf(q)
	if l == nil {
		return fmt.Errorf("unknown kind of request: %d", q.Verb)
	}
	s.last++
	s.lists[s.last] = l
	return s.more(a, s.last)
}

func (s *session) more(a *answer, n int) error {
	l := s.lists[n]
	if l == nil {
		return fmt.Errorf("list %d was not started, or has ended", n)
	}
	a.List = n
	done, err := l.next(&a.Part)
	if a.Done = done || err != nil; a.Done {
		s.drop(n)
	}
	return err
}

func (s *session) listOf(q *request) *list {
	switch q.Verb {
	case askChanges:
		return newList(s.from.PackedChanges(s.ctx, q.After, q.Want), func(p *part, c *store.PackedChange) int {
			p.Changes = append(p.Changes, c)
			return len(c.Record) + len(c.Text) + len(c.Links)
		})
	case askClusters:
		return newList(s.from.Clusters(s.ctx), func(p *part, c store.Cluster) int { p.Clusters = append(p.Clusters, c); return 0 })
	case askMembers:
		return newList(s.from.PackedMembers(s.ctx, q.IDs), func(p *part, r []byte) int { p.Members = append(p.Members, r); return len(r) })
	case askURLs:
		return newList(s.from.URLs(s.ctx, q.State), func(p *part, u string) int { p.URLs = append(p.URLs, u); return len(u) })
	case askDump:
		return newList(s.from.Dump(s.ctx), func(p *part, d *store.Part) int {
			p.Dump = append(p.Dump, d)
			if d.Page == nil {
				return 0
			}
			return len(d.Page.Record) + len(d.Page.Text) + len(d.Page.Links)
		})
	case askHosts:
		return newList(s.from.Hosts(s.ctx), func(p *part, h frontier.Host) int { p.Hosts = append(p.Hosts, h); return 0 })
	}
	return nil
}

// A list is a sequence that is read part by part. next fills a part, and stop ends the list early.
type list struct {
	next func(*part) (done bool, err error)
	stop func()
}

// newList returns a list of the values of seq. put adds a value to a part, and returns the number
// of bytes that count toward partBytes.
func newList[T any](seq iter.Seq2[T, error], put func(*part, T) int) *list {
	next, stop := iter.Pull2(seq)
	return &list{
		next: func(p *part) (bool, error) {
			for n, size := 0, 0; n < partValues && size < partBytes; n++ {
				v, err, ok := next()
				if !ok || err != nil {
					return true, err
				}
				size += put(p, v)
			}
			return false, nil
		},
		stop: stop,
	}
}
