package redis

import (
	"context"
	"fmt"
	"strconv"
)

// A listing is the beginning of a list.
type listing struct {
	tickets []ticket
	more    bool // there are more
}

// cut is the beginning of a list of which more was read.
func cut(tickets []ticket, limit int) listing {
	return listing{tickets[:min(limit, len(tickets))], len(tickets) > limit}
}

// A listRead is a list on its way to be read.
type listRead struct {
	list  listID
	limit int // postings
	listing
}

var listsScript = newScript("postings.lua", "lists.lua")

// readLists reads the first postings of lists, in one round trip.
func (s *Store) readLists(ctx context.Context, reads []*listRead) error {
	lists := make([]listID, len(reads))
	for i, r := range reads {
		lists[i] = r.list
	}
	args := func(i int) []string { return []string{strconv.Itoa(reads[i].limit + 1)} }
	reading := s.round(listsScript, nil, lists, args, func(i int, text string) {
		reads[i].listing = cut(postingsIn(text), reads[i].limit)
	})
	if err := s.hold(ctx, reading); err != nil {
		return fmt.Errorf("read postings: %w", err)
	}
	return nil
}
