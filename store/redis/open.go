// Package redis is the store for many workers: one crawl, remembered by servers that speak
// the Redis protocol, single or in a cluster.
//
//	a, err := redis.ParseAddress("redis://10.0.0.1:6379,10.0.0.2:6379/docs")
//	s, err := redis.Open(ctx, a, redis.Options{Create: true})
//	defer s.Close()
//
// Any number of processes may have the store open, and each may write. It keeps every
// promise of package store, also while workers die and servers are replaced. It refuses
// servers that would forget on their own what they hold.
package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/rueidis"

	"skink/dedup"
	"skink/store"
)

// Options says how to open a store. The zero value opens one that exists.
type Options struct {
	Create   bool // make the store if there is none
	ReadOnly bool // nothing is written but by Keep, and no host claimed

	// Texts is a folder that all workers share under this path, in which a store that is
	// made keeps its texts; "": on the servers. One that exists knows where its texts are.
	Texts string
}

// A Store is a crawl remembered by servers.
type Store struct {
	client
	keyspace
	address    Address
	replicated bool   // a server that dies has another in its place, which may know less
	born       bool   // nobody had made the store before
	texts      string // folder of the texts; "": they are on the servers
	session    string // its name among the sessions; "": it is only read

	depths  depths // of buckets of posting lists
	levels  levels
	outlook outlook
	heeded  atomic.Int64 // stumbles of servers after which was forgotten what they may have lost
	others  atomic.Int64 // sessions beside this one, as was heard last
	holding holding
	sharing presence                        // who shares the hosts
	sent    *recent[dedup.Hash, struct{}]   // URLs that the store knows, see recentSlot
	where   *recent[dedup.Hash, visit]      // where pages are; number 0: in that partition, if anywhere
	tickets *recent[dedup.Hash, uint64]     // numbers of the visits that URLs were taken for
	batches *recent[dedup.Hash, *batch]     // in which URLs were taken
	met     *recent[visit, *metLeader]      // leaders, see met.go
	pages   *recent[visit, *content]        // records, see met.go
	hashes  *recent[dedup.Hash, metText]    // of texts that were met or committed here
	along   *recent[visit, []string]        // of leaders, read with their sketches, see met.go
	before  *recent[dedup.Hash, *lastVisit] // last visits of URLs that were taken here, for the commit that replaces them
	lanes   *recent[string, string]         // by host, as Take was told last
	seen    atomic.Uint64                   // the highest place that was heard of

	clock     serverClock
	courier   *courier
	era       atomic.Int64 // see copied
	unnoted   atomic.Bool  // an era has begun, and noteRecent is to run
	copying   sync.Mutex
	histories []string     // guarded by copying: those of all primaries
	lagging   map[lag]span // guarded by copying: what no replica had
	slotsOnce sync.Once
	slotOf    []uint16 // of the partitions

	life       context.Context // ends when the store is closed
	end        context.CancelFunc
	background sync.WaitGroup // what says that the session lives
	growing    sync.WaitGroup // what splits buckets
}

var _ store.Store = (*Store)(nil)

// layoutVersion is that of keys.go. It is kept at [keyspace.global] "v".
const layoutVersion = "6"

// Open opens a store.
func Open(ctx context.Context, a Address, opt Options) (*Store, error) {
	c, err := reach(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", a, explainDial(ctx, a, err))
	}
	s := newStore(c, a)
	if err := s.begin(ctx, opt); err != nil {
		s.end()
		c.Close()
		return nil, fmt.Errorf("open store %s: %w", a, explain(err))
	}
	return s, nil
}

// reach dials. The first server that is heard of a cluster is asked for the others, and if it has just
// been started it says that it is loading.
func reach(ctx context.Context, a Address) (client, error) {
	for began, pause := time.Now(), firstPause; ; pause = min(2*pause, longestWait) {
		c, err := dial(a)
		e, said := errors.AsType[*rueidis.RedisError](err)
		if !said || !passes(e) || time.Since(began) > patience || !wait(ctx, false, pause) {
			return c, err
		}
	}
}

func newStore(c client, a Address) *Store {
	s := &Store{
		client: c, keyspace: keyspace(a.Name), address: a,
		levels:  newLevels(),
		holding: newHolding(),
		courier: newCourier(),
		clock:   serverClock{ours: time.Now},
		sent:    newRecent[dedup.Hash, struct{}](mostRecent),
		where:   newRecent[dedup.Hash, visit](mostRecent),
		tickets: newRecent[dedup.Hash, uint64](mostRecent),
		batches: newRecent[dedup.Hash, *batch](mostRecent),
		met:     newRecent[visit, *metLeader](mostMet),
		hashes:  newRecent[dedup.Hash, metText](mostHashes),
		pages:   newRecent[visit, *content](mostPages),
		along:   newRecent[visit, []string](mostAlong),
		before:  newRecent[dedup.Hash, *lastVisit](mostMet),
		lanes:   newRecent[string, string](mostRecentHosts),
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// begin looks whether the servers will do and whether the store is there.
func (s *Store) begin(ctx context.Context, opt Options) error {
	if err := s.inspect(ctx); err != nil {
		return err
	}
	version, err := s.do(ctx, s.B().Get().Key(s.global("v")).Build())[0].ToString()
	switch {
	case rueidis.IsRedisNil(err) && !opt.Create:
		return store.ErrNotExist
	case rueidis.IsRedisNil(err):
		if err := s.nameTexts(ctx, opt.Texts); err != nil {
			return err
		}
		err = s.do(ctx, s.B().Set().Key(s.global("v")).Value(layoutVersion).Nx().Build())[0].Error()
		if s.born = err == nil; rueidis.IsRedisNil(err) { // another made it first
			err = nil
		}
	case err == nil && version != layoutVersion:
		return fmt.Errorf("%w: it has layout %q, and this program reads layout %s", store.ErrCorrupt, version, layoutVersion)
	}
	if err != nil {
		return err
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	if err := s.settleTexts(ctx, opt.Texts); err != nil || opt.ReadOnly {
		return err
	}
	return s.join(ctx)
}

// inspect asks each server what it is. One that is away may have a replica; if all are,
// the store is.
func (s *Store) inspect(ctx context.Context) error {
	var away error
	there := false
	for addr, node := range s.Nodes() {
		info, err := node.Do(ctx, node.B().Info().Section("everything").Build()).ToString()
		if e, ok := rueidis.IsRedisErr(err); ok && strings.Contains(e.Error(), "not supported") {
			there = true
			continue // a server that says nothing of itself
		}
		switch {
		case err != nil && passes(err) && ctx.Err() == nil:
			away = err
			continue
		case err != nil:
			return err
		}
		there = true
		told := infoOf(info)
		if isFollowed(told) || syncsOf(told) != "0" {
			s.replicated = true // one that was there may come back
		}
		if err := suits(told); err != nil {
			return fmt.Errorf("server %s: %w", addr, err)
		}
	}
	if !there {
		return away
	}
	if !s.replicated && s.Mode() == rueidis.ClientModeCluster { // a replica may have yet to come, or to come back
		nodes, err := s.do(ctx, s.B().ClusterNodes().Build())[0].ToString()
		if _, refused := rueidis.IsRedisErr(err); err != nil && !refused {
			return err
		}
		s.replicated = hasReplicas(nodes) // of a server that does not tell, none is known
	}
	return nil
}

// infoOf reads the answer to INFO.
func infoOf(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// oldest is the first version of Redis that has all that scripts use here.
const oldest = 6.2

// suits says why a server cannot keep a store.
func suits(info map[string]string) error {
	if info["kvrocks_version"] == "" {
		if v, err := strconv.ParseFloat(majorMinor(info["redis_version"]), 64); err == nil && v < oldest {
			return fmt.Errorf("it is Redis %s, and a store needs Redis %.1f or later, or Valkey", info["redis_version"], oldest)
		}
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		return fmt.Errorf("its maxmemory-policy is %s: it would drop parts of the store when its memory is full: set it to noeviction", policy)
	}
	return nil
}

func majorMinor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// givePassword says how, without looking like an address: what stands before an @ is not printed.
const givePassword = "set " + EnvUser + " and " + EnvPassword + ", or put USER:PASSWORD and @ before the host"

// explainDial adds to an error of the first words with a server what to try.
func explainDial(ctx context.Context, a Address, err error) error {
	switch {
	case a.TLS && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("%w: the server does not answer in TLS: one without it is named redis://", store.ErrAway)
	case !a.TLS && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)):
		return fmt.Errorf("%w: one that takes TLS alone is named rediss://", explain(err))
	}
	return explain(err)
}

// explain adds to an error of a server what to try, once.
func explain(err error) error {
	e, ok := errors.AsType[*rueidis.RedisError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrAway), errors.Is(err, store.ErrFull):
		return err
	case ok && strings.HasPrefix(e.Error(), "NOAUTH"):
		return fmt.Errorf("the server asks for a password: %s", givePassword)
	case ok && (strings.HasPrefix(e.Error(), "WRONGPASS") || strings.Contains(e.Error(), "invalid username-password") || strings.Contains(e.Error(), "without any password configured")):
		return fmt.Errorf("the server does not accept the user and password: %w: %s", err, givePassword)
	case ok && strings.HasPrefix(e.Error(), "OOM"):
		return &fullError{err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if _, network := errors.AsType[net.Error](err); network || ok && passes(err) || errors.Is(err, io.EOF) || errors.Is(err, rueidis.ErrClosing) {
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	return err
}

// A fullError says that the memory of a server is full. It is a [store.ErrFull].
type fullError struct{ error }

func (e *fullError) Error() string {
	return fmt.Sprintf("the memory of a server is full: %v: give it more (maxmemory)", e.error)
}

func (e *fullError) Is(target error) bool { return target == store.ErrFull }
func (e *fullError) Unwrap() error        { return e.error }

// Sync does nothing: when servers write to their disks is theirs to say.
func (s *Store) Sync() error { return nil }

// Close ends the claims that were given here, and the session. Closing again does nothing.
func (s *Store) Close() error {
	if s.life.Err() != nil {
		return nil
	}
	s.end()
	s.background.Wait()
	s.growing.Wait()
	var err error
	if s.session != "" {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = s.finishDeliveries(ctx)
		if quitErr := s.quit(ctx); err == nil {
			err = quitErr
		}
		if goneErr := s.gone(ctx); err == nil {
			err = goneErr
		}
		if _, leaveErr := s.say(ctx, "leave"); err == nil {
			err = leaveErr
		}
	}
	s.client.Close()
	if err != nil {
		return fmt.Errorf("close store %s: %w", s.address, explain(err))
	}
	return nil
}

// saw remembers the highest place that was heard of: what is committed here later stands
// after it.
func (s *Store) saw(place uint64) {
	for {
		before := s.seen.Load()
		if place <= before || s.seen.CompareAndSwap(before, place) {
			return
		}
	}
}

// commands is room for commands.
func (s *Store) commands(n int) []rueidis.Completed { return make([]rueidis.Completed, 0, n) }

// primaries are the servers that are written to.
func (s *Store) primaries() []rueidis.Client {
	var all []rueidis.Client
	for _, node := range s.Nodes() {
		all = append(all, node)
	}
	return all
}
