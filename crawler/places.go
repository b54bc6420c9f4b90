package crawler

import "time"

// # Who may be asked at once, and what is worked on
//
// To wait for an answer takes a connection and a few kilobytes; to read a page takes a processor.
// So a URL holds one after the other:
//
//  1. A place on the network, from the beginning of its turn until its answer has arrived whole, or
//     is known not to come. That covers the look-up of the name, robots.txt if that is not known,
//     the request and the body. Each turn has a goroutine, which waits. The body takes memory as it
//     comes, see package wire, rooms.go.
//  2. A place for work, which is one of Options.Parallel workers, to be parsed, judged and stored.
//
// Options.Connections bounds the turns that have begun and not ended, wherever they are. An answer
// that has arrived gives its place on the network back before it waits for a worker, and a worker
// waits for no turn: so nobody waits in a circle. A folder keeps its place until its page is
// stored, for its next page is asked for only then; the worker does not wait for that place either.
// No turn begins while as many pages wait for a worker as there are workers, so that the network
// does not run ahead.
//
// # Slow hosts
//
// A host holds its place on the network for as long as its answers take. 500 hosts that hang would
// hold every place there is, each until its time limit, and a host that answers in 50 ms would wait
// for them. So hosts have a pace. A host is quick if its last answers came within slowAnswer; slow
// if they took longer, or if the host never answered in this crawl; failing if it did not answer
// the last time. Each pace leaves places to those that are quicker, see shares. A host that is not
// known to answer has one turn at a time, whatever Options.PerHost says.
//
// An answer to the request for robots.txt tells the pace of a host too, before its first page is
// asked for.
//
// What it gets wrong: a host that was quick and begins to hang holds its place as a quick one until
// the time limit. And when more unknown hosts hang than slow hosts may have places, an unknown host
// that is well waits with them for its first turn.
//
// # When a crawl is stopped
//
// No turn begins any more. Turns that have a place go on for Options.Grace, and the workers take
// what arrives in that time. Then the context of all turns ends, and the next run fetches again
// what did not come to its end.

// A pace is how soon a host is expected to answer.
type pace int

const (
	quick pace = iota
	slow
	failing
	paces // how many there are
)

// slowAnswer is how long a quick host takes at most. By it the quarter of the places that is for
// quick hosts alone brings more than a hundred answers a second at the defaults, about as many as
// one processor reads.
const slowAnswer = 2 * time.Second

// shares are how many quarters of all places the hosts of a pace may have together with the slower
// ones; one place at least.
var shares = [paces]int{quick: 4, slow: 3, failing: 1}

// places counts what the turns of a crawl hold.
type places struct {
	connections int        // turns at once
	ahead       int        // pages that have arrived, waiting or in work, at which no turn begins
	begun       int        // turns begun and not ended
	arrived     int        // of them, those whose page waits for a worker or has one
	asking      [paces]int // of them, those that wait for the network
}

// A place is what one turn holds.
type place struct {
	pace    pace
	asking  bool // it is on the network
	arrived bool // its page waits for a worker, or has one
}

func newPlaces(opt Options) places {
	return places{connections: positive(opt.Connections, Defaults().Connections), ahead: 2 * max(opt.Parallel, 1)}
}

// free says whether a host of a pace may have a turn, if most turns may be under way.
func (p *places) free(of pace, most int) bool {
	most = min(most, p.connections)
	if p.begun >= most || p.arrived >= p.ahead {
		return false
	}
	asking := 0
	for q := failing; q > quick; q-- {
		asking += p.asking[q]
		if of >= q && asking >= max(most*shares[q]/shares[quick], 1) {
			return false
		}
	}
	return true
}

// take begins a turn.
func (p *places) take(of pace) place {
	p.begun++
	p.asking[of]++
	return place{pace: of, asking: true}
}

// answered gives back the place on the network.
func (p *places) answered(t *place) {
	if t.asking {
		t.asking = false
		p.asking[t.pace]--
	}
}

// arrive counts the page of a turn among those that want a worker.
func (p *places) arrive(t *place) {
	t.arrived = true
	p.arrived++
}

// leave ends a turn.
func (p *places) leave(t *place) {
	p.answered(t)
	if t.arrived {
		p.arrived--
	}
	p.begun--
}
