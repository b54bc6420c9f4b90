package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// # What is sent, and what is sent again
//
// A server that does not answer may have done what it was asked. So all that is sent here
// may be done twice: scripts see what they wrote, and what remains (a claim that nobody
// knows of, URLs taken twice) ends with its claim. While a primary is away, its replica
// needs some seconds to take its place: what failed for that is sent again until patience
// is over. Errors that do not pass, such as a wrong password or a full memory, are
// returned at once.

const (
	patience    = 30 * time.Second // as long as a claim lasts: after it others go on anyway
	firstPause  = 20 * time.Millisecond
	longestWait = time.Second
)

// A client talks to the servers of a store.
type client struct {
	rueidis.Client
	stumbles *atomic.Int64 // how often a server was away or handed over
	away     *atomic.Bool  // servers were waited for in vain, and have not answered since

	flown func(began, ended time.Time) // told of each round trip, for tests; nil: nobody is
}

func dial(a Address) (client, error) {
	option := rueidis.ClientOption{
		InitAddress:  a.Servers,
		Username:     a.user,
		Password:     a.password,
		ClientName:   "skink",
		DisableCache: true, // nothing is cached by the client, so servers need not say what changed
		DisableRetry: true, // it would ask for ever; do asks again
	}
	if a.TLS {
		option.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.roots} // each server is asked for by its own name
	}
	c, err := rueidis.NewClient(option)
	return client{Client: c, stumbles: new(atomic.Int64), away: new(atomic.Bool)}, err
}

// do sends commands, to each server those about its keys, and returns the answers in
// their order.
func (c client) do(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	if len(cmds) == 0 {
		return nil
	}
	for i := range cmds {
		cmds[i] = cmds[i].Pin() // it may be sent again
	}
	results := c.fly(ctx, cmds)
	for began, pause := time.Now(), firstPause; ; pause = min(2*pause, longestWait) {
		again, unknown := failed(results)
		if len(again) == 0 {
			c.away.Store(false)
			return results
		}
		if !unknown && (c.away.Load() || time.Since(began) > patience) {
			c.away.Store(true)
			return results
		}
		if !wait(ctx, unknown, pause) {
			return results
		}
		if unknown {
			c.load(ctx)
		} else {
			c.stumbles.Add(1)
		}
		some := make([]rueidis.Completed, len(again))
		for i, at := range again {
			some[i] = cmds[at]
		}
		for i, result := range c.fly(ctx, some) {
			results[again[i]] = result
		}
	}
}

// fly sends commands and waits for the answers.
func (c client) fly(ctx context.Context, cmds []rueidis.Completed) []rueidis.RedisResult {
	began := time.Now()
	results := c.DoMulti(ctx, cmds...)
	if c.flown != nil {
		c.flown(began, time.Now())
	}
	return results
}

// wait pauses, unless only a script was unknown; false: ctx has ended.
func wait(ctx context.Context, unknown bool, pause time.Duration) bool {
	if unknown {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// failed are the results that are worth another attempt, and whether a server did not
// know a script.
func failed(results []rueidis.RedisResult) (again []int, unknown bool) {
	for i, result := range results {
		err := result.Error()
		if err == nil || rueidis.IsRedisNil(err) {
			continue
		}
		if e, ok := rueidis.IsRedisErr(err); ok && e.IsNoScript() {
			unknown, again = true, append(again, i)
		} else if passes(err) {
			again = append(again, i)
		}
	}
	return again, unknown
}

// passes says whether an error may be gone in a moment: a server that is away, starts, or
// hands over to another.
func passes(err error) bool {
	if e, ok := rueidis.IsRedisErr(err); ok {
		for _, code := range []string{"LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "READONLY", "MOVED", "ASK", "UNBLOCKED"} {
			if strings.HasPrefix(e.Error(), code) {
				return true
			}
		}
		return false
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, rueidis.ErrClosing)
}

// eval runs scripts, all in one round trip, and returns their answers in order.
func (c client) eval(ctx context.Context, calls ...call) []rueidis.RedisResult {
	return c.do(ctx, c.runs(calls)...)
}

// runs are the commands that run scripts.
func (c client) runs(calls []call) []rueidis.Completed {
	cmds := make([]rueidis.Completed, len(calls))
	for i, call := range calls {
		cmds[i] = c.B().Evalsha().Sha1(call.script.sha).Numkeys(int64(len(call.keys))).Key(call.keys...).Arg(call.args...).Build()
	}
	return cmds
}

// load gives all scripts to all servers. One that is away will be asked again.
func (c client) load(ctx context.Context) error {
	var errs error
	for _, node := range c.Nodes() {
		var cmds []rueidis.Completed
		for _, s := range allScripts {
			cmds = append(cmds, node.B().ScriptLoad().Script(s.text).Build())
		}
		for _, result := range node.DoMulti(ctx, cmds...) {
			if err := result.Error(); err != nil && !passes(err) { // one that is away is asked again
				errs = errors.Join(errs, err)
			}
		}
	}
	return errs
}

// firstError is the first error among answers; an answer that there is nothing is none.
func firstError(results []rueidis.RedisResult) error {
	for _, result := range results {
		if err := result.Error(); err != nil && !rueidis.IsRedisNil(err) {
			return explain(err)
		}
	}
	return nil
}
