package redis

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"skink/dedup"
	"skink/store"
)

// # The rule of marks, over a cluster
//
// Two copies that are fetched at once must not both be unique, and no lock reaches over
// the slots in which a page's keys lie. The embedded store compares marks under its own
// mutex. Here pages settle it among themselves, in the lists that they are posted in.
//
// A commit takes a ticket: a number that nobody has used before. The ticket is undecided,
// then either decided or void, and stays what it became:
//
//	undecided ──▶ decided   a record lies at the ticket: the page is in the store
//	          ──▶ void      the ticket was called off: no record will ever lie there
//
// (A decided ticket becomes void when its page is visited again and another takes its place. To
// those who meet it that is the same: nothing is there any more.) Both steps are one atomic step
// each in the partition of the page, and each refuses what the other did first. So the fate of a
// ticket is one fact in one place, whatever lists its postings stand in. The step to decided is the
// script that writes the record. Anybody may take the step to void.
//
// A commit goes so:
//
//  1. Post. The ticket is put at the end of every list that the page is to be found in, all
//     in one round trip. Each list is one atomic step, the lists together are not. Each
//     answers with the tickets before this one that the page's look-up has not seen decided.
//  2. Heed. Is one of those decided, the verdict no longer holds: the page takes its postings
//     back and is judged again. Void ones are removed. Undecided ones are waited for, as below.
//  3. Decide. If nothing is left that came before, the record is written.
//
// Why no two of them are both unique: let A and B be alike and share a key. Appending is
// atomic, so in the list of that key one stands before the other, say A. B's answer holds A,
// unless B's look-up saw A decided; then B was judged beside A. Before B decides, A is
// decided, and B steps back, or void, and A never leads. Nothing here is about time.
//
// A posting is made before it is decided, so a list can hold tickets that never will be. A
// look-up passes over those; they count for nobody.
//
// # Who waits for whom
//
// All postings of a page are made at once, so A can stand before B in one list and B before
// A in another. Each of two would wait for the other, if waiting had no direction. So:
//
//   - a page waits, with its postings where they are, for tickets lower than its own;
//   - if an undecided ticket before it is higher, it first takes its own postings back. It
//     then holds nothing that anybody could wait for, waits until the other has settled, and
//     is judged again.
//
// Those who are waited for and wait themselves wait for lower tickets only, so there is no
// circle. Of all that stand in each other's way the page with the highest ticket never steps
// back: it goes on as soon as those below it have settled, and each of them settles or steps
// back. So some page always gets on. (The contract speaks of posting in the order of the
// keys, one answer after the other. That has no circle either, and costs a round trip a key.
// With tickets it is one for all keys.)
//
// Where one server has all lists and the page, a script posts and decides in one step, if there is
// nothing to heed. Whoever looks sees the ticket decided, so nobody waits for such a page. If there is
// something to heed the ticket may be posted by that step, and the page goes on with step 1 as above.
//
// A page that is not to be posted under a key, because it resembles a leader, looks at what
// came there and does not wait. A page that is undecided while it looks may as well have
// come after it.
//
// # What the dead leave
//
// A worker that dies between posting and deciding leaves undecided tickets. Who meets one
// waits patience for it and then voids it. Should the worker only have been slow, or
// stopped, its script finds the ticket void, writes nothing, and the page is judged again.
// So a late worker is fenced by what it finds, not by a clock, and impatience costs work
// but no verdict. A posting that nobody meets costs its bytes. The page itself comes
// again with its host's next holder, under a new ticket: a page's own older postings are
// voided and waited for like any others.
//
// # What a failover can lose
//
// Replication is asynchronous, so a new primary may lack the last writes of the old one.
// Without a posting, two alike pages can both be unique. Without a void mark, a worker
// thought dead can decide after all, with the same result. Without a record, its URL is
// pending again, and is fetched again; until then its members follow a leader that is not
// there, or that is judged anew and follows another. In each of these cases a page too many is
// kept. One too few is kept if the page comes back with other words than those that were lost: its
// members stay what they were to it. The clusters that report --complete computes depend on none of it.
// A number that a primary gave and its replica does not know of is given again. Two pages can
// have it then, in the lists that they are posted in and in the memory of workers. The record
// lies at the number of the page that is decided first, and the other is judged again; whoever
// follows a posting looks at the record that he finds. What is lost of the frontier is another
// matter, see copies.go.

// A ticket is one attempt to commit one page, and if it succeeds the page's place.
type ticket uint64

// A fate is what became of a ticket.
type fate uint8

const (
	undecided fate = iota
	decided        // its page is in the store
	void           // its page never will be, under this ticket
)

// A list is known by a hash of the key, or of the text hash, whose postings it holds.
type listID uint64

// A seen is how far a look-up has read a list: its first postings, of which all were
// decided. Lists are only appended to, but for void tickets, which are removed.
type seen struct {
	count int
	last  ticket // the last of them
}

// A stand is one list and what a commit wants with it.
type stand struct {
	list listID
	post bool // put the ticket there
	heed bool // the verdict rests on what was there
	seen seen
}

// A board holds the lists. It does single steps, each atomic. Several lists or tickets in
// one call are as many steps, in any order and with the steps of others between them.
type board interface {
	// post appends a ticket to the lists that say so, and answers for each with the
	// tickets that stand before it, those after seen. Of lists that nobody heeds it may
	// answer nothing.
	post(ctx context.Context, t ticket, stands []stand) ([][]ticket, error)

	// remove takes a ticket out of lists.
	remove(ctx context.Context, t ticket, lists []listID) error

	// fates says what became of tickets.
	fates(ctx context.Context, tickets []ticket) ([]fate, error)

	// voids makes void those tickets that are undecided, and says what became of them.
	voids(ctx context.Context, tickets []ticket) ([]fate, error)

	// pause lets time pass between two questions, the more the more there were.
	pause(ctx context.Context, asked int) error
}

// A committer settles commits through a board.
type committer struct {
	board
	patience int // pauses before an undecided ticket is voided
}

// outwaited is the patience of a store: 21 pauses are two seconds. A commit takes some
// milliseconds. One that takes longer than this is judged again, which costs little.
const outwaited = 21

// pauseAt is how long to wait before the next question.
func pauseAt(asked int) time.Duration {
	return min(2*time.Millisecond<<min(asked, 6), 128*time.Millisecond)
}

// enter posts a ticket, and says whether its page may be decided now. If not, the verdict
// is stale, and nothing of the ticket is left.
func (c *committer) enter(ctx context.Context, t ticket, stands []stand) (clear bool, err error) {
	before, err := c.post(ctx, t, stands)
	if err != nil {
		return false, err
	}
	return c.heed(ctx, t, stands, before)
}

// withdraw takes back all postings of a ticket that is not going to be decided.
func (c *committer) withdraw(ctx context.Context, t ticket, stands []stand) error {
	var lists []listID
	for _, s := range stands {
		if s.post {
			lists = append(lists, s.list)
		}
	}
	if len(lists) == 0 {
		return nil
	}
	if _, err := c.voids(ctx, []ticket{t}); err != nil {
		return err
	}
	return c.remove(ctx, t, lists)
}

// heed waits until nothing undecided stands before a ticket, and says whether nothing
// decided does and nothing of the ticket had to be taken back. What it finds void it removes.
//
// It waits also when the verdict is stale already, with the postings taken back, and then for all
// that is undecided, also where the page is not posted itself. A look-up counts a list as seen up to
// the first undecided ticket. If that one's record was lost in a failover, and a decided one stands
// behind it, every commit would be stale at once, and nobody would ever void it.
func (c *committer) heed(ctx context.Context, t ticket, stands []stand, before [][]ticket) (clear bool, err error) {
	met := whatCounts(t, stands, before)
	stale, withdrawn := false, false
	for asked := 0; len(met) > 0; asked++ {
		ask := c.fates
		if asked >= c.patience {
			ask = c.voids
		}
		open, came, err := c.settle(ctx, met, ask)
		if err != nil {
			return false, err
		}
		stale = stale || came
		met = slices.DeleteFunc(open, func(m meeting) bool { return !m.wait && !stale })
		if !withdrawn && (stale || slices.ContainsFunc(met, func(m meeting) bool { return m.ticket > t })) {
			withdrawn = true
			if err := c.withdraw(ctx, t, stands); err != nil {
				return false, err
			}
		}
		if len(met) == 0 {
			break
		}
		if err := c.pause(ctx, asked); err != nil {
			return false, err
		}
	}
	return !withdrawn, nil
}

// A meeting is a ticket that stands before another, in some lists.
type meeting struct {
	ticket
	lists []listID
	wait  bool // in one of them both are posted
}

// whatCounts gathers what a ticket has to heed.
func whatCounts(t ticket, stands []stand, before [][]ticket) []meeting {
	var met []meeting
	for i, s := range stands {
		if !s.heed {
			continue
		}
		for _, other := range before[i] {
			at := slices.IndexFunc(met, func(m meeting) bool { return m.ticket == other })
			switch {
			case other == t:
				continue
			case at < 0:
				at = len(met)
				met = append(met, meeting{ticket: other})
			}
			met[at].lists = append(met[at].lists, s.list)
			met[at].wait = met[at].wait || s.post
		}
	}
	return met
}

// settle asks what became of tickets: which are undecided, and whether one of them is decided.
func (c *committer) settle(ctx context.Context, met []meeting, ask func(context.Context, []ticket) ([]fate, error)) (open []meeting, came bool, err error) {
	tickets := make([]ticket, len(met))
	for i, m := range met {
		tickets[i] = m.ticket
	}
	fates, err := ask(ctx, tickets)
	if err != nil {
		return nil, false, err
	}
	for i, m := range met {
		switch {
		case fates[i] == decided:
			came = true
		case fates[i] == void:
			if err := c.remove(ctx, m.ticket, m.lists); err != nil {
				return nil, false, err
			}
		default:
			open = append(open, m)
		}
	}
	return open, came, nil
}

// read is what a look-up makes of a list and the fates of its tickets: those that are
// decided, those that are void, and how far it counts as seen, once the void ones are
// removed.
func read(list []ticket, fates func(ticket) fate) (leaders, voided []ticket, s seen) {
	unbroken := true
	for _, t := range list {
		switch fates(t) {
		case decided:
			leaders = append(leaders, t)
			if unbroken {
				s = seen{s.count + 1, t}
			}
		case void:
			voided = append(voided, t)
		default:
			unbroken = false
		}
	}
	return leaders, voided, s
}

// learn finds out what became of tickets for a look-up, which also wants to know what they
// hold. read reads that, and says which hold something: they are decided. Of the others it
// is asked what became of them, and one that was decided just now is read again: a page
// that counts as seen has to have been looked at.
func learn(tickets []ticket, read func([]ticket) (found []bool, err error), ask func([]ticket) ([]fate, error)) (map[ticket]fate, error) {
	fates := make(map[ticket]fate, len(tickets))
	found, err := read(tickets)
	if err != nil {
		return nil, err
	}
	var unsure, late []ticket
	for i, t := range tickets {
		if fates[t] = decided; !found[i] {
			unsure = append(unsure, t)
		}
	}
	if len(unsure) == 0 {
		return fates, nil
	}
	asked, err := ask(unsure)
	if err != nil {
		return nil, err
	}
	for i, t := range unsure {
		if fates[t] = asked[i]; asked[i] == decided {
			late = append(late, t)
		}
	}
	if len(late) > 0 {
		_, err = read(late)
	}
	return fates, err
}

// A mark is what a look-up saw.
type mark struct {
	lists   map[listID]seen       // those that held something
	leaders map[dedup.Hash]ticket // the pages that a verdict may name, and where they were
	copied  ticket                // the copy that was found, if it follows one of them; 0: none
}

// pack makes bytes of a mark: the copy, how many lists, what was seen of each, and the leaders.
func (m *mark) pack() store.Mark {
	b := binary.AppendUvarint(nil, uint64(m.copied))
	b = binary.AppendUvarint(b, uint64(len(m.lists)))
	for list, s := range m.lists {
		b = binary.LittleEndian.AppendUint64(b, uint64(list))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.count))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.last))
	}
	for id, t := range m.leaders {
		b = append(b, id[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(t))
	}
	return store.Mark(b)
}

func newMark() mark { return mark{lists: map[listID]seen{}, leaders: map[dedup.Hash]ticket{}} }

// unpack is the inverse of pack. What was not packed by it saw nothing.
func unpack(packed store.Mark) mark {
	m := newMark()
	b := []byte(packed)
	copied, n := binary.Uvarint(b)
	m.copied = ticket(copied)
	b = b[max(n, 0):]
	lists, n := binary.Uvarint(b)
	for b = b[max(n, 0):]; lists > 0 && len(b) >= 24; lists, b = lists-1, b[24:] {
		m.lists[listID(binary.LittleEndian.Uint64(b))] = seen{int(binary.LittleEndian.Uint64(b[8:])), ticket(binary.LittleEndian.Uint64(b[16:]))}
	}
	for ; len(b) >= 24; b = b[24:] {
		m.leaders[dedup.Hash(b[:16])] = ticket(binary.LittleEndian.Uint64(b[16:]))
	}
	return m
}
