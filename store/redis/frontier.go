package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"skink/frontier"
	"skink/store"
)

// # What a partition knows of its hosts
//
//	h  hash HOST → its head: the values named in lua/heads.lua, a line each
//	r  zset: hosts that may be asked, by the lane of their first URL, as instant and name
//	w  zset: hosts that are to be left alone, by until when in microseconds
//	c  zset: hosts that are held, by until when
//	s  hash, the sums of the partition: c1 … c7 URLs in each state, w hosts waiting, kWORKER
//	   hosts held, token of the last claim, V last number of a visit, P last place,
//	   "y NAME" the tally of its records, and of each directory D: DL level, DT whether it
//	   is being split, DS how many of its buckets have been, DN fields (of I by one in eight); copied, which is
//	   written to see what a replica has
//	q LANE 00 HOST  list of packed items: a host's queue, a lane for each priority and depth
//	t HOST  hash, field → token, number of its taking, lane, item: what is taken
//	d HOST  zset of what is due later, by when: instant, lane, item
//	z  list of the URLs outside, each after its field; those discovered since are in it still
//
// A URL that is pending is in one of q, t and d. It is taken by moving it from the front of
// q to t, so what is free begins at the front, and what ends is deleted from t. When a
// claim ends, what it took stays in t, where it is free as the token is no longer the
// host's; the next holder takes it from there first, so it keeps its place, and ending a
// claim costs nothing. Lanes of a host are keys that a script must be told: the caller
// guesses them by what he heard last.

// hostKeys are the first keys of all scripts about a partition.
func (s *Store) hostKeys(p partition, more ...string) []string {
	keys := make([]string, 0, 5+len(more))
	for _, letter := range []string{"h", "r", "w", "c", "s"} {
		keys = append(keys, s.key(p, letter))
	}
	return append(keys, more...)
}

func (s *Store) laneKey(p partition, lane, host string) string {
	return s.key(p, "q", lane, "\x00", host)
}

// A head is what is known of a host, as far as it is read here.
type head struct {
	pending       int
	lanes         []string
	left          string
	token         uint64
	kept, passing string
	since         frontier.Spent // since kept was told
}

// headLines is how many values a head has.
const headLines = 20

func readHead(text string) (h head, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != headLines {
		return h, fmt.Errorf("%w: the head of a host", store.ErrCorrupt)
	}
	fmt.Sscan(lines[0], &h.pending)
	if lines[3] != "" {
		h.lanes = strings.Split(lines[3], ",")
	}
	fmt.Sscan(lines[11], &h.token)
	h.left, h.kept, h.passing = lines[4], lines[16], lines[17]
	fmt.Sscan(lines[18], &h.since.Pages)
	fmt.Sscan(lines[19], &h.since.Bytes)
	return h, nil
}

// host is a head as the contract has it.
func (h head) host(name string) (frontier.Host, error) {
	host := frontier.Host{Name: name, Pending: h.pending, Depth: h.depth()}
	var kept keptRest
	var passing passingRest
	if err := unmarshal(h.kept, &kept); err != nil {
		return host, err
	}
	if err := unmarshal(h.passing, &passing); err != nil {
		return host, err
	}
	host.Rest = frontier.Rest{
		Next: passing.Next, Idle: passing.Idle, Took: passing.Took, Trouble: passing.Trouble,
		Blocked: kept.Blocked, Delay: kept.Delay,
		Spent: frontier.Spent{Pages: kept.Spent.Pages + h.since.Pages, Bytes: kept.Spent.Bytes + h.since.Bytes},
	}
	return host, nil
}

// depth is that of the first lane.
func (h head) depth() int {
	first, some := int64(0), false
	for _, lane := range append(slices.Clone(h.lanes[:min(1, len(h.lanes))]), h.left) {
		var n int64
		if _, err := fmt.Sscan(lane, &n); err == nil && (!some || n < first) {
			first, some = n, true
		}
	}
	return int(uint32(first))
}

// keptRest is what is kept of a rest for good, passingRest what ends with a run.
type (
	keptRest struct {
		Blocked time.Time      `json:"until,omitzero"`
		Delay   time.Duration  `json:"delay,omitempty"` // nanoseconds
		Spent   frontier.Spent `json:"spent,omitzero"`
	}
	passingRest struct {
		Next    time.Time        `json:"next,omitzero"`
		Idle    bool             `json:"idle,omitempty"`
		Took    time.Duration    `json:"took,omitempty"`
		Trouble frontier.Trouble `json:"trouble,omitzero"`
	}
)

// marshal is a value as a line, "" for the zero value.
func marshal[T comparable](v T) string {
	var zero T
	if v == zero {
		return ""
	}
	b, _ := json.Marshal(v) // nothing in it can fail
	return string(b)
}

func unmarshal(text string, v any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("%w: the rest of a host: %v", store.ErrCorrupt, err)
	}
	return nil
}

var discoverScript = newScript("sums.lua", "directory.lua", "heads.lua", "links.lua", "discover.lua")

// Modes of discover.lua.
const (
	ifNew      = "n"
	ifEnded    = "q"
	asOutside  = "o"
	mostLinked = 400 // URLs in one call of a script, so that none takes long
)

// A lead is a URL on its way into its partition.
type lead struct {
	mode string
	item frontier.Item
}

// Discover queues the URLs that are new.
func (s *Store) Discover(ctx context.Context, items []frontier.Item) (int, error) {
	return s.enqueue(ctx, ifNew, items)
}

// Requeue queues the URLs that are not pending.
func (s *Store) Requeue(ctx context.Context, items []frontier.Item) (int, error) {
	return s.enqueue(ctx, ifEnded, items)
}

func (s *Store) enqueue(ctx context.Context, mode string, items []frontier.Item) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := s.bring(ctx); err != nil {
		return 0, err
	}
	leads := make([]lead, len(items))
	for i, it := range items {
		leads[i] = lead{mode, it}
	}
	found, err := s.assure(ctx, s.unknown(leads))
	if err != nil {
		return found, fmt.Errorf("queue URLs: %w", err)
	}
	return found, nil
}

// lead brings URLs into their partitions, and returns how many are pending by that.
func (s *Store) lead(ctx context.Context, leads []lead) (found int, err error) {
	era := s.era.Load()
	var steps []step
	for p, some := range byPartition(leads) {
		for len(some) > 0 {
			n := min(len(some), mostLinked)
			steps = append(steps, s.discovery(p, some[:n]))
			some = some[n:]
		}
	}
	for len(steps) > 0 {
		n := min(len(steps), 64)
		answers, err := s.steps(ctx, steps[:n]...)
		if err != nil {
			return found, err
		}
		for i, answer := range answers {
			p := steps[i].part
			s.outlook.touch(p)
			found += int(number(answer[1]))
			if text(answer[2]) == "1" {
				s.grow(known, p)
			}
		}
		steps = steps[n:]
	}
	s.learn(leads, era)
	return found, nil
}

func byPartition(leads []lead) map[partition][]lead {
	parts := map[partition][]lead{}
	for _, l := range leads {
		p := partOf(l.item.URL)
		parts[p] = append(parts[p], l)
	}
	return parts
}

// discovery is the step that brings URLs into one partition.
func (s *Store) discovery(p partition, leads []lead) step {
	return step{known, p, func(l level) call {
		keys := s.hostKeys(p)
		bits, splitting := l.args()
		args := []string{bits, splitting}
		for _, lead := range leads {
			keys, args = s.appendLead(keys, args, p, l, lead)
		}
		return call{discoverScript, keys, args}
	}}
}

// appendLead adds what discover in lua/links.lua needs of one URL.
func (s *Store) appendLead(keys, args []string, p partition, l level, lead lead) ([]string, []string) {
	it := lead.item
	f := fieldOf(frontier.ID(it.URL))
	own, parent := s.bucketsOf(known, p, l, f)
	if lead.mode == asOutside {
		return append(keys, own, parent, s.key(p, "z")), append(args, lead.mode, "", "", "", string(f), string(f)+it.URL)
	}
	host, lane := frontier.HostOf(it.URL), laneOf(it)
	where, later := s.queueKey(p, host, lane, it.Due)
	return append(keys, own, parent, where), append(args, lead.mode, host, lane, later, string(f), packItem(it))
}

// queueKey is where an item is queued, and "" or the instant before which it is not taken.
// What is due by our clock may not be by the server's: it is queued all the same.
func (s *Store) queueKey(p partition, host, lane string, due time.Time) (key, later string) {
	if due.After(time.Now()) {
		return s.key(p, "d", host), instant(due)
	}
	return s.laneKey(p, lane, host), ""
}
