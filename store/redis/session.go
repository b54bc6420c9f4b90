package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// # Runs
//
// A process that may hold hosts is in the list of sessions as long as it lives. The first
// that comes when nobody is there begins a run: claims of those who are gone end, and with
// them what the run before made of its hosts (when we would ask them again, which
// were not worth waiting for). What hosts asked for stays. Those that come meanwhile
// wait until that is done; if who does it dies, the next does it.
//
//	w  zset of sessions, by until when they are known to live
//	g  hash: run, the number of runs; beginner, the session that begins one

const (
	sessionTime  = 30 * time.Second // as long as a claim: who is silent for longer holds nothing
	sessionPause = 50 * time.Millisecond
)

var (
	sessionScript = newScript("session.lua")
	runScript     = newScript("sums.lua", "heads.lua", "run.lua")
)

// say says what becomes of the session.
func (s *Store) say(ctx context.Context, what string) (string, error) {
	c := call{sessionScript, []string{s.global("w"), s.global("g")}, []string{what, s.session, decimal(sessionTime.Microseconds())}}
	return s.eval(ctx, c)[0].ToString()
}

// join begins the session, and a run if nobody else is there. A store that was just born
// has no run before it.
func (s *Store) join(ctx context.Context) error {
	s.session = fmt.Sprintf("%x", rand.Uint64())
	for {
		answer, err := s.say(ctx, "join")
		switch {
		case err != nil:
			return err
		case answer != "begin" && answer != "wait":
			s.hear(answer)
			if s.replicated {
				s.copied(ctx) // an error leaves what comes to the next time
			}
			s.background.Go(s.stay)
			s.background.Go(s.carry)
			return nil
		case answer == "begin":
			if !s.born {
				if err := s.beginRun(ctx); err != nil {
					return err
				}
			}
			if _, err := s.say(ctx, "begun"); err != nil {
				return err
			}
		}
		if !wait(ctx, false, sessionPause) {
			return ctx.Err()
		}
	}
}

// stay says that the session lives, until the store is closed. Who has nothing to be confirmed sees
// here that an era has begun.
func (s *Store) stay() {
	for wait(s.life, false, sessionTime/3) {
		if answer, err := s.say(s.life, "stay"); err == nil { // an error is that of whoever needs the server next
			s.hear(answer)
		}
		if s.replicated {
			s.copied(s.life) // an error leaves what comes to the next time
		}
	}
}

// hear takes in how many other sessions there are.
func (s *Store) hear(answer string) {
	if n, err := strconv.Atoi(answer); err == nil {
		s.others.Store(int64(n))
	}
}

// beginRun ends what the run before made of hosts.
func (s *Store) beginRun(ctx context.Context) error {
	all := make([]partition, partitions)
	for p := range all {
		all[p] = partition(p)
	}
	for chunk := range slices.Chunk(all, mostLooked) {
		var calls []call
		for _, p := range chunk {
			calls = append(calls, call{runScript, s.hostKeys(p), nil})
		}
		if err := firstError(s.eval(ctx, calls...)); err != nil {
			return fmt.Errorf("begin a run: %w", err)
		}
	}
	return nil
}
