//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"skink/store/redis/redistest"
)

// A forgetful server acts as three primaries of a cluster that die again and again, each in a moment.
// Its replica is stopped, so that nothing that is written from then on is known to be safe; a third of
// the partitions is put by; and a little later these are what they were, the server has another
// history, and all connections end. So a crawl sees as many failovers in a minute as a real cluster,
// which needs seconds for each, has in half an hour.
type forgetful struct {
	*redistest.Server
	replica int // process
}

const (
	putBy = `redis.call('DEL', 'put by')
for _, key in ipairs(redis.call('KEYS', '{web*')) do
	local part = string.match(key, '^{web:(%x%x%x)}')
	if (part and tonumber(part, 16) % 3 or 0) == tonumber(ARGV[1]) then
		redis.call('HSET', 'put by', key, redis.call('DUMP', key))
	end
end`
	putBack = `for _, key in ipairs(redis.call('KEYS', '{web*')) do
	local part = string.match(key, '^{web:(%x%x%x)}')
	if (part and tonumber(part, 16) % 3 or 0) == tonumber(ARGV[1]) then redis.call('DEL', key) end
end
local all = redis.call('HGETALL', 'put by')
for i = 1, #all, 2 do redis.call('RESTORE', all[i], 0, all[i + 1]) end`
)

// startForgetful starts a server with a replica.
func startForgetful(t *testing.T) *forgetful {
	t.Helper()
	f := &forgetful{Server: redistest.Start(t, "--enable-debug-command", "yes")}
	replica := redistest.StartReplica(t, f.Server)
	info, err := replica.CLI("info", "server")
	id := regexp.MustCompile(`process_id:(\d+)`).FindStringSubmatch(info)
	if err != nil || id == nil {
		t.Fatalf("ask the replica for its process: %v: %s", err, info)
	}
	f.replica, _ = strconv.Atoi(id[1])
	return f
}

func (f *forgetful) tell(t *testing.T, args ...string) string {
	t.Helper()
	out, err := f.CLI(args...)
	if err != nil || strings.HasPrefix(out, "ERR") || strings.HasPrefix(out, "(error)") {
		t.Fatalf("tell the server %.60q: %v: %s", args, err, out)
	}
	return out
}

// forget makes a third of the partitions what they are now, when meanwhile has returned.
func (f *forgetful) forget(t *testing.T, third int, meanwhile func()) {
	t.Helper()
	_ = syscall.Kill(f.replica, syscall.SIGSTOP)
	f.tell(t, "eval", putBy, "0", strconv.Itoa(third))
	meanwhile()
	f.tell(t, "eval", putBack, "0", strconv.Itoa(third))
	f.tell(t, "debug", "change-repl-id")
	f.tell(t, "client", "kill", "type", "normal") // who waits for the replica would take the history of before for the one it has
	_ = syscall.Kill(f.replica, syscall.SIGCONT)
}

// TestServersForget lets a third of a store forget up to a third of a second, again and again, while
// four workers crawl, some of which die. No URL is lost, no page is there twice, the clusters over all
// pages are those of an undisturbed crawl, and every worker sees the end.
//
// With SKINK_LONG=short ten times in a crawl of 600 pages, with SKINK_LONG=full two hundred times in
// one of 6,000.
func TestServersForget(t *testing.T) {
	hosts, pages, times, kills := 6, 600, 10, 2
	if long(t) == full {
		hosts, pages, times, kills = 20, 6000, 200, 20
	}
	server := startForgetful(t)
	r := refer(t, hosts, pages)
	store := "redis://" + server.Addr + "/web"
	var workers []*worker
	for n := range 4 {
		workers = append(workers, r.worker(t, store, fmt.Sprint("worker", n)))
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := range times {
		time.Sleep(time.Duration(50+rng.IntN(250)) * time.Millisecond)
		i, kill := rng.IntN(len(workers)), n*kills/times < (n+1)*kills/times
		server.forget(t, rng.IntN(3), func() {
			time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			if kill {
				_ = workers[i].Process.Kill()
				<-workers[i].ended
			}
		})
		if kill {
			workers[i] = r.worker(t, store, fmt.Sprint("worker", len(workers)+n))
		}
	}
	endWell(t, workers...)
	again, most := r.sites.fetchedAgain()
	t.Logf("seed %d: %d URLs were fetched again, one of them %d times", seed, again, most)
	r.samePages(t, store)
}
