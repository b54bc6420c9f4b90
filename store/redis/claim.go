package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"skink/frontier"
)

// # Which hosts are claimed
//
// Those that come first of a thousand partitions. A worker keeps in sight what each had the
// last time he looked: its first hosts that may be asked, when the next will be, how many
// are held. What he changes he looks at again before the next claim; what others change he
// sees when he looks at all, once a second, which costs a server some ten milliseconds. An
// answer that nothing is left anywhere is given only after such a look, or by one who is
// alone; until it is time for one, others may hold something.
//
// So of hosts that another worker just made ready the nearest may be missed for a second.
// A host that is given is given once: the script that claims it decides.

const (
	lookAgain  = time.Second
	mostShown  = 64  // hosts that a partition names at once
	mostLooked = 256 // partitions in one round trip

	// lookedAtOnce is how many partitions one script looks at: enough to spare the server the cost
	// of a call for each, and not so many that others wait for it.
	lookedAtOnce = 32
)

var (
	lookScript  = newScript("sums.lua", "heads.lua", "sight.lua", "look.lua")
	claimScript = newScript("sums.lua", "heads.lua", "sight.lua", "claim.lua")
	renewScript = newScript("sums.lua", "heads.lua", "renew.lua")
	ripeScript  = newScript("ripe.lua")
	ripenScript = newScript("sums.lua", "heads.lua", "ripen.lua")
)

// A ready host is one that may be claimed.
type readyHost struct {
	part partition
	lane int64  // of its first URL
	due  string // instant
	name string
}

func compareReady(a, b readyHost) int {
	return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.due, b.due), cmp.Compare(a.name, b.name))
}

// A view is what a partition had when it was looked at.
type view struct {
	next    string // instant of the first host that nobody holds; "": there is none
	shown   int    // how many ready hosts were asked for
	ready   []readyHost
	sums    map[string]int64
	waiting int // deliveries in its outbox that are not this process's
	ripe    []string
}

// outlook is what is in sight of all partitions.
type outlook struct {
	claiming sync.Mutex          // held by who looks: one look is enough
	late     map[visit]time.Time // guarded by claiming: what stands in outboxes that others wrote to, and since when it was seen there
	half     map[dirPart]bool    // guarded by claiming: directories that were being split then

	mu     sync.Mutex
	views  [partitions]view // guarded by mu
	dirty  [partitions]bool // guarded by mu: changed here since it was looked at
	looked time.Time        // guarded by mu: at all of them
}

// touch says that a partition is not what it was when it was looked at.
func (s *outlook) touch(p partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty[p] = true
}

// toLook are the partitions that are to be looked at, to show so many hosts of each: all if
// that was long ago, else those that were touched, have a host that came due, or may have
// more hosts than were shown. server is the time of the server's clock.
func (s *outlook) toLook(shown int, server time.Time) (list []partition, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all = time.Since(s.looked) > lookAgain; all {
		s.looked = time.Now()
	}
	now := instant(server)
	for p := range s.views {
		v := &s.views[p]
		more := v.shown < shown && len(v.ready) == v.shown && v.shown > 0
		if all || s.dirty[p] || more || len(v.ready) == 0 && v.next != "" && v.next <= now {
			list = append(list, partition(p))
			s.dirty[p] = false
		}
	}
	return list, all
}

// expire makes the next look one at all partitions.
func (s *outlook) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = time.Time{}
}

func (s *outlook) show(p partition, v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views[p] = v
}

// deliveries are the partitions whose outboxes have something in them.
func (s *outlook) deliveries() (parts []partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.views {
		if s.views[p].waiting > 0 {
			parts = append(parts, partition(p))
		}
	}
	return parts
}

// A dirPart is a directory in a partition.
type dirPart struct {
	dir  directory
	part partition
}

// halfSplit are the directories that were being split at this look at all and at the one
// before: whoever does it is dead, or slow, and it may be done twice.
func (s *outlook) halfSplit() (all []dirPart) {
	before := s.half
	s.half = map[dirPart]bool{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.views {
		for _, d := range []directory{known, located} {
			at := dirPart{d, partition(p)}
			if s.views[p].sums[string(d)+"T"] == 0 {
				continue
			}
			if s.half[at] = true; before[at] {
				all = append(all, at)
			}
		}
	}
	return all
}

// best are the first n hosts in sight.
func (s *outlook) best(n int) []readyHost {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []readyHost
	for p := range s.views {
		all = append(all, s.views[p].ready...)
	}
	slices.SortFunc(all, compareReady)
	return all[:min(n, len(all))]
}

// sum fills in what a grant to one of some workers says of all partitions. Hosts that the store
// believes to be held by the worker, and that are not in holding, are as good as another's: their
// claim was given in an answer that never came, or was returned to a server that is dead, or to an
// earlier process of that name. They are free when it runs out.
func (s *outlook) sum(g *frontier.Grant, worker string, workers int, holding *holding, clock *serverClock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, hosts, coming := "", 0, false
	for p := range s.views {
		v := &s.views[p]
		g.Waiting += int(v.sums["w"])
		hosts += int(v.sums["w"])
		if v.waiting > 0 {
			g.Waiting++ // URLs are on their way
			coming = true
		}
		for name, n := range v.sums {
			if name[0] != 'k' {
				continue
			}
			if hosts += int(n); name[1:] == worker {
				n = max(n-int64(holding.count(worker, partition(p))), 0)
			}
			g.Others += int(n)
		}
		if v.next != "" && (next == "" || v.next < next) {
			next = v.next
		}
	}
	g.Share, g.Workers = frontier.ShareOf(hosts, workers), workers
	if next != "" {
		g.Next = clock.fromTheirs(timeOf(next))
		if now := clock.ours(); g.Next.Before(now) {
			g.Next = now
		}
	} else if coming {
		g.Next = clock.ours().Add(confirmEvery)
	}
}

// Claim gives the first hosts that may be asked.
func (s *Store) Claim(ctx context.Context, worker string, n int, ttl time.Duration) (g frontier.Grant, err error) {
	if err := ctx.Err(); err != nil {
		return g, err
	}
	s.outlook.claiming.Lock()
	defer s.outlook.claiming.Unlock()
	if err := s.bring(ctx); err != nil {
		return g, err
	}
	g, all, err := s.claim(ctx, worker, n, ttl)
	if err == nil && len(g.Hosts) == 0 && s.outlook.deliveries() != nil {
		if err = s.deliverFor(ctx, s.outlook.deliveries(), s.others.Load() == 0); err == nil {
			g, _, err = s.claim(ctx, worker, n, ttl)
		}
	}
	if err != nil {
		return frontier.Grant{}, fmt.Errorf("claim hosts: %w", explain(err))
	}
	if !all && err == nil && len(g.Hosts)+g.Others+g.Waiting == 0 && s.holding.none() { // who holds nothing would end now
		s.outlook.expire()
		if g, all, err = s.claim(ctx, worker, n, ttl); err != nil {
			return frontier.Grant{}, fmt.Errorf("claim hosts: %w", explain(err))
		}
	}
	if len(g.Hosts)+g.Others+g.Waiting == 0 && s.unconfirmed() {
		err := s.clear(ctx)
		if err != nil && s.courier.failsFor() > 2*patience {
			return frontier.Grant{}, fmt.Errorf("learn whether replicas have what was found: %w", explain(err))
		}
		if s.unconfirmed() { // it may be lost yet, and then is not over
			g.Waiting, g.Next = 1, s.clock.ours().Add(confirmEvery)
		}
	}
	if !all && g.Others == 0 && s.others.Load() > 0 {
		g.Others = 1 // as far as can be said before the next look at all
	}
	return g, nil
}

// claim looks at what was touched, or at all, and claims until there are enough.
func (s *Store) claim(ctx context.Context, worker string, n int, ttl time.Duration) (g frontier.Grant, all bool, err error) {
	worker = oneLine(worker)
	shown := min(max(n, 1), mostShown)
	workers, err := s.present(ctx, worker)
	if err != nil {
		return g, false, err
	}
	parts, all := s.outlook.toLook(shown, s.clock.theirs(s.clock.ours()))
	if err := s.look(ctx, shown, parts); err != nil {
		return g, all, err
	}
	if all {
		for _, d := range s.outlook.halfSplit() {
			s.grow(d.dir, d.part)
		}
		if err := s.deliverFor(ctx, s.outlook.deliveries(), false); err != nil {
			return g, all, err
		}
	}
	var given []givenHost
	for len(given) < n {
		best := s.outlook.best(n - len(given))
		if len(best) == 0 {
			break
		}
		some, err := s.claimThese(ctx, worker, ttl, shown, best)
		if err != nil {
			return g, all, err
		}
		if given = append(given, some...); len(some) == 0 {
			break // others were faster; what they left is seen the next time
		}
	}
	slices.SortFunc(given, func(a, b givenHost) int { return compareReady(a.readyHost, b.readyHost) })
	for _, h := range given {
		h.Held.Host.Rest = restIn(h.Held.Host.Rest, s.clock.fromTheirs)
		g.Hosts = append(g.Hosts, h.Held)
		s.holding.add(h.Claim)
	}
	s.outlook.sum(&g, worker, workers, &s.holding, &s.clock)
	return g, all, nil
}

// oneLine makes a worker's name fit for a head.
func oneLine(worker string) string { return strings.ReplaceAll(worker, "\n", " ") }

// partsAtOnce is how many partitions one script may be about: in a cluster it is one.
func (s *Store) partsAtOnce() int {
	if s.Mode() == rueidis.ClientModeCluster {
		return 1
	}
	return lookedAtOnce
}

// look brings partitions into sight.
func (s *Store) look(ctx context.Context, shown int, parts []partition) error {
	for some := range slices.Chunk(parts, mostLooked) {
		groups := slices.Collect(slices.Chunk(some, s.partsAtOnce()))
		calls := make([]call, len(groups))
		for i, group := range groups {
			calls[i] = call{lookScript, nil, []string{strconv.Itoa(shown)}}
			for _, p := range group {
				calls[i].keys = append(calls[i].keys, s.hostKeys(p, s.key(p, "o"))...)
			}
		}
		own := s.courier.owns()
		for i, result := range s.eval(ctx, calls...) {
			answers, err := result.ToArray()
			if err != nil {
				return err
			}
			for k, p := range groups[i] {
				answer, err := answers[k].ToArray()
				if err != nil {
					return err
				}
				if err := s.see(ctx, p, shown, own[p], answer); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// see takes in the answer of a look. URLs that came due are queued, and the partition
// is looked at again.
func (s *Store) see(ctx context.Context, p partition, shown, own int, answer []rueidis.RedisMessage) error {
	v := readView(p, shown, own, answer)
	s.outlook.show(p, v)
	if len(v.ripe) == 0 {
		return nil
	}
	for _, host := range v.ripe {
		if err := s.ripen(ctx, p, host); err != nil {
			return err
		}
	}
	return s.look(ctx, shown, []partition{p})
}

// readView reads the answer of a look. own is how many entries of the outbox were this process's.
func readView(p partition, shown, own int, answer []rueidis.RedisMessage) view {
	v := view{next: text(answer[0]), shown: shown, sums: map[string]int64{}, waiting: max(int(number(answer[3]))-own, 0)}
	ready, _ := answer[1].AsStrSlice()
	for i := 0; i+1 < len(ready); i += 2 {
		lane, _ := strconv.ParseFloat(ready[i+1], 64)
		v.ready = append(v.ready, readyHost{p, int64(lane), ready[i][:19], ready[i][19:]})
	}
	sums, _ := answer[2].AsStrSlice()
	for i := 0; i+1 < len(sums); i += 2 {
		v.sums[sums[i]], _ = strconv.ParseInt(sums[i+1], 10, 64)
	}
	v.ripe, _ = answer[4].AsStrSlice()
	return v
}

// A givenHost is one that was claimed.
type givenHost struct {
	readyHost
	frontier.Held
}

// claimThese claims hosts, as far as they are still to be had.
func (s *Store) claimThese(ctx context.Context, worker string, ttl time.Duration, shown int, best []readyHost) (given []givenHost, err error) {
	byPart := map[partition][]readyHost{}
	var parts []partition
	for _, h := range best {
		if byPart[h.part] == nil {
			parts = append(parts, h.part)
		}
		byPart[h.part] = append(byPart[h.part], h)
	}
	calls := make([]call, len(parts))
	for i, p := range parts {
		args := []string{worker, decimal(max(ttl.Microseconds(), 1)), strconv.Itoa(shown)}
		for _, h := range byPart[p] {
			args = append(args, h.due+h.name)
		}
		calls[i] = call{claimScript, s.hostKeys(p, s.key(p, "o")), args}
	}
	own := s.courier.owns()
	for i, result := range s.eval(ctx, calls...) {
		answer, err := result.ToArray()
		if err != nil {
			return given, err
		}
		after, err := answer[1].ToArray()
		if err != nil {
			return given, err
		}
		s.outlook.show(parts[i], readView(parts[i], shown, own[parts[i]], after))
		some, err := readGiven(parts[i], worker, byPart[parts[i]], answer[0])
		if err != nil {
			return given, err
		}
		given = append(given, some...)
	}
	return given, nil
}

// readGiven reads which hosts were given: name, first lane and head of each.
func readGiven(p partition, worker string, asked []readyHost, answer rueidis.RedisMessage) (given []givenHost, err error) {
	list, err := answer.AsStrSlice()
	if err != nil {
		return nil, err
	}
	for i := 0; i+2 < len(list); i += 3 {
		head, err := readHead(list[i+2])
		if err != nil {
			return nil, err
		}
		host, err := head.host(list[i])
		if err != nil {
			return nil, err
		}
		g := givenHost{readyHost{part: p, name: list[i]}, frontier.Held{Host: host}}
		g.lane, _ = strconv.ParseInt(list[i+1], 10, 64)
		for _, a := range asked {
			if a.name == g.name {
				g.due = a.due
			}
		}
		g.Held.Claim = frontier.Claim{Host: g.name, Worker: worker, Token: head.token}
		given = append(given, g)
	}
	return given, nil
}

// ripen queues the URLs of a host that came due.
func (s *Store) ripen(ctx context.Context, p partition, host string) error {
	later := s.key(p, "d", host)
	lanes, err := s.eval(ctx, call{ripeScript, s.hostKeys(p, later), []string{host}})[0].AsStrSlice()
	if err != nil {
		return err
	}
	keys := s.hostKeys(p, later)
	for _, lane := range lanes {
		keys = append(keys, s.laneKey(p, lane, host))
	}
	s.outlook.touch(p)
	return s.eval(ctx, call{ripenScript, keys, append([]string{host}, lanes...)})[0].Error()
}

// Renew lets claims last.
func (s *Store) Renew(ctx context.Context, claims []frontier.Claim, ttl time.Duration) (lost []frontier.Claim, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	byPart := map[partition][]frontier.Claim{}
	for _, c := range claims {
		p := partOfHost(c.Host)
		byPart[p] = append(byPart[p], c)
	}
	var parts []partition
	var calls []call
	for p, some := range byPart {
		args := []string{decimal(max(ttl.Microseconds(), 1))}
		for _, c := range some {
			args = append(args, oneLine(c.Worker), c.Host, strconv.FormatUint(c.Token, 10))
		}
		parts, calls = append(parts, p), append(calls, call{renewScript, s.hostKeys(p), args})
	}
	for i, result := range s.eval(ctx, calls...) {
		numbers, err := result.AsIntSlice()
		if err != nil {
			return nil, fmt.Errorf("renew claims: %w", explain(err))
		}
		for _, n := range numbers {
			lost = append(lost, byPart[parts[i]][n])
			s.holding.remove(byPart[parts[i]][n])
		}
	}
	return lost, nil
}
