package redis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// # Every interleaving of single steps
//
// The protocol of marks.go runs here on an engine that stops each worker before each of
// its steps, and asks a chooser who goes next. Steps that a worker sends together, to
// several lists, are chosen one by one, for a cluster promises no order among them. The
// chooser may also kill a worker: what it has sent is lost, and another takes up its page.
// What comes of it is compared with what must be true whatever the order was.

// A webPage is a page of the model. Pages of one subject resemble each other as much as
// is asked for; those of one text are copies.
type webPage struct {
	name    int
	subject int
	text    int
	keys    []listID
}

func (p *webPage) hash() listID { return listID(1000 + p.text) }

// A kept page is one that was decided.
type kept struct {
	page   *webPage
	leader ticket // 0: it is unique
	copied bool
}

// A stage is what the workers share, and who decides which of them goes on.
type stage struct {
	choose   func(n int) int // one of n
	deaths   int             // left to the chooser
	atomic   bool            // a look-up is one step
	patience int             // of all workers

	lists  map[listID][]ticket
	voided map[ticket]bool
	pages  map[ticket]kept

	actors  []*actor
	arrived chan *actor // a worker waits for steps to be done, or has ended
	tickets ticket
	steps   int
}

// An actor is a worker on its way with one page.
type actor struct {
	stage   *stage
	page    *webPage
	pending []func()
	resume  chan bool // false: it is dead
	ended   bool
	dead    bool
}

// do has steps done, in whatever order, and waits for them.
func (a *actor) do(steps ...func()) {
	if len(steps) == 0 {
		return
	}
	a.pending = steps
	a.stage.arrived <- a
	if !<-a.resume {
		runtime.Goexit()
	}
}

// start sends a worker off with a page.
func (s *stage) start(p *webPage) {
	a := &actor{stage: s, page: p, resume: make(chan bool)}
	s.actors = append(s.actors, a)
	go func() {
		defer func() { a.ended = true; s.arrived <- a }()
		a.judge()
	}()
	<-s.arrived
}

// run lets workers go on, one step at a time, until all have ended.
func (s *stage) run(pages []*webPage) error {
	for _, p := range pages {
		s.start(p)
	}
	for {
		var ready []*actor
		options := 0
		for _, a := range s.actors {
			if !a.ended {
				ready = append(ready, a)
				options += len(a.pending)
			}
		}
		if len(ready) == 0 {
			return nil
		}
		if s.steps++; s.steps > 20_000 {
			s.kill(ready...)
			return errors.New("they never end")
		}
		killings := 0
		if s.deaths > 0 {
			killings = len(ready)
		}
		n := s.choose(options + killings)
		if n >= options {
			victim := ready[n-options]
			s.deaths--
			s.kill(victim)
			s.start(victim.page)
			continue
		}
		for _, a := range ready {
			if n >= len(a.pending) {
				n -= len(a.pending)
				continue
			}
			step := a.pending[n]
			a.pending = slices.Delete(slices.Clone(a.pending), n, n+1)
			step()
			if len(a.pending) == 0 {
				a.resume <- true
				<-s.arrived
			}
			break
		}
	}
}

func (s *stage) kill(victims ...*actor) {
	for _, a := range victims {
		a.dead, a.pending = true, nil
		a.resume <- false
		<-s.arrived
	}
}

// fate is what is true of a ticket at this moment.
func (s *stage) fate(t ticket) fate {
	switch _, there := s.pages[t]; {
	case there:
		return decided
	case s.voided[t]:
		return void
	}
	return undecided
}

func (a *actor) post(_ context.Context, t ticket, stands []stand) ([][]ticket, error) {
	s := a.stage
	before := make([][]ticket, len(stands))
	var steps []func()
	for i, st := range stands {
		steps = append(steps, func() {
			list := s.lists[st.list]
			if n := st.seen.count; n > 0 && n <= len(list) && list[n-1] == st.seen.last {
				before[i] = slices.Clone(list[n:])
			} else {
				before[i] = slices.Clone(list)
			}
			if st.post {
				s.lists[st.list] = append(list, t)
			}
		})
	}
	a.do(steps...)
	return before, nil
}

func (a *actor) remove(_ context.Context, t ticket, lists []listID) error {
	var steps []func()
	for _, l := range lists {
		steps = append(steps, func() {
			a.stage.lists[l] = slices.DeleteFunc(slices.Clone(a.stage.lists[l]), func(o ticket) bool { return o == t })
		})
	}
	a.do(steps...)
	return nil
}

func (a *actor) fates(_ context.Context, tickets []ticket) ([]fate, error) {
	fates := make([]fate, len(tickets))
	var steps []func()
	for i, t := range tickets {
		steps = append(steps, func() { fates[i] = a.stage.fate(t) })
	}
	a.do(steps...)
	return fates, nil
}

func (a *actor) voids(_ context.Context, tickets []ticket) ([]fate, error) {
	fates := make([]fate, len(tickets))
	var steps []func()
	for i, t := range tickets {
		steps = append(steps, func() {
			if fates[i] = a.stage.fate(t); fates[i] == undecided {
				a.stage.voided[t] = true
				fates[i] = void
			}
		})
	}
	a.do(steps...)
	return fates, nil
}

func (a *actor) pause(context.Context, int) error {
	a.do(func() {})
	return nil
}

// A sight is what a look-up found.
type sight struct {
	seen   map[listID]seen
	copy   ticket
	leader ticket
}

// look looks a page up.
func (a *actor) look() sight {
	found := sight{seen: map[listID]seen{}}
	lists := append([]listID{a.page.hash()}, a.page.keys...)
	held := make([][]ticket, len(lists))
	var reads []func()
	for i, l := range lists {
		reads = append(reads, func() { held[i] = slices.Clone(a.stage.lists[l]) })
	}
	know := map[ticket]fate{}
	seen := map[ticket]bool{} // what it looked at
	if a.stage.atomic {
		a.do(func() {
			for _, read := range reads {
				read()
			}
			for _, t := range slices.Concat(held...) {
				know[t], seen[t] = a.stage.fate(t), true
			}
		})
	} else {
		a.do(reads...)
		know, _ = learn(slices.Concat(held...), func(tickets []ticket) (found []bool, err error) {
			a.do(func() {
				for _, t := range tickets {
					found = append(found, a.stage.fate(t) == decided)
					seen[t] = found[len(found)-1]
				}
			})
			return found, nil
		}, func(tickets []ticket) ([]fate, error) { return a.fates(context.Background(), tickets) })
	}
	for i, l := range lists {
		leaders, voided, s := read(held[i], func(t ticket) fate { return know[t] })
		for _, t := range voided {
			a.remove(nil, t, []listID{l})
		}
		found.seen[l] = s
		for _, t := range leaders {
			switch {
			case !seen[t]: // there, but nobody looked
			case i == 0 && (found.copy == 0 || t < found.copy):
				found.copy = t
			case i > 0 && a.stage.pages[t].page.subject == a.page.subject && (found.leader == 0 || t < found.leader):
				found.leader = t
			}
		}
	}
	return found
}

// judge brings a page to its verdict.
func (a *actor) judge() {
	c := committer{board: a, patience: a.stage.patience}
	for stale := true; stale; {
		found := a.look()
		a.stage.tickets++
		t := a.stage.tickets
		k := kept{page: a.page}
		stands := []stand{{list: a.page.hash(), post: true, heed: true, seen: found.seen[a.page.hash()]}}
		switch {
		case found.copy != 0:
			k.copied = true
			first := a.stage.pages[found.copy]
			if k.leader = first.leader; k.leader == 0 {
				k.leader = found.copy
			}
			stands[0].heed = false
		default:
			k.leader = found.leader
			for _, key := range a.page.keys {
				stands = append(stands, stand{list: key, post: k.leader == 0, heed: true, seen: found.seen[key]})
			}
		}
		clear, _ := c.enter(context.Background(), t, stands)
		if !clear {
			continue
		}
		a.do(func() {
			if stale = a.stage.voided[t]; !stale {
				a.stage.pages[t] = k
			}
		})
		if stale {
			c.withdraw(context.Background(), t, stands)
		}
	}
}

// check says what is wrong with what the workers left.
func (s *stage) check(pages []*webPage) error {
	times := map[*webPage]int{}
	firsts := map[int]int{} // pages of a text that are no copies
	for t, k := range s.pages {
		times[k.page]++
		if !k.copied {
			firsts[k.page.text]++
		}
		if s.voided[t] {
			return fmt.Errorf("ticket %d is decided and void", t)
		}
		if l, there := s.pages[k.leader]; k.leader != 0 && (!there || l.leader != 0 || l.page.subject != k.page.subject) {
			return fmt.Errorf("page %d follows ticket %d, which leads nothing like it", k.page.name, k.leader)
		}
		for t2, k2 := range s.pages {
			if t < t2 && k.page != k2.page && k.leader == 0 && k2.leader == 0 && alike(k.page, k2.page) {
				return fmt.Errorf("pages %d and %d are alike, share a key, and are both unique", k.page.name, k2.page.name)
			}
		}
	}
	for _, p := range pages {
		if times[p] == 0 {
			return fmt.Errorf("page %d is lost", p.name)
		}
		if firsts[p.text] < 1 || firsts[p.text] > 1 && len(s.pages) == len(pages) {
			return fmt.Errorf("of text %d, %d pages are no copies", p.text, firsts[p.text])
		}
	}
	return nil
}

func alike(a, b *webPage) bool {
	return a.subject == b.subject && slices.ContainsFunc(a.keys, func(k listID) bool { return slices.Contains(b.keys, k) })
}

func newStage(deaths int, choose func(int) int) *stage {
	patience := 1
	if deaths == 0 {
		patience = 1 << 30 // whoever waits for ever is in a circle
	}
	return &stage{choose: choose, deaths: deaths, patience: patience, lists: map[listID][]ticket{}, voided: map[ticket]bool{}, pages: map[ticket]kept{}, arrived: make(chan *actor)}
}

// TestMarksAnyOrder lets up to five workers go in any order, up to two of them die.
func TestMarksAnyOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var pages []*webPage
		for n := range rapid.IntRange(2, 5).Draw(r, "pages") {
			p := &webPage{name: n, text: rapid.IntRange(0, 3).Draw(r, "text")}
			p.subject = p.text / 2
			p.keys = rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(1, 4), func(n int) listID { return listID(n) }), 1, 3, rapid.ID).Draw(r, "keys")
			if at := slices.IndexFunc(pages, func(o *webPage) bool { return o.text == p.text }); at >= 0 {
				p.keys = pages[at].keys // of one text, one sketch
			}
			pages = append(pages, p)
		}
		s := newStage(rapid.IntRange(0, 2).Draw(r, "deaths"), func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "next") })
		if rapid.Bool().Draw(r, "impatient") {
			s.patience = 1
		}
		if err := s.run(pages); err != nil {
			r.Fatal(err)
		}
		if err := s.check(pages); err != nil {
			r.Fatal(err)
		}
	})
}

// TestMarksEveryOrder goes through all orders of the steps of two workers whose pages
// meet in two lists, in each of which either may be the first.
func TestMarksEveryOrder(t *testing.T) {
	a := &webPage{name: 1, text: 1, keys: []listID{1, 2}}
	for _, tt := range []struct {
		name   string
		b      *webPage
		deaths int
	}{
		{"alike", &webPage{name: 2, text: 2, keys: []listID{1, 2}}, 0},
		{"copies", &webPage{name: 2, text: 1, keys: []listID{1, 2}}, 0},
		{"unlike", &webPage{name: 2, text: 2, subject: 1, keys: []listID{1, 2}}, 0},
		{"one of whom dies", &webPage{name: 2, text: 2, keys: []listID{1}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := everyOrder(t, func(choose func(int) int) error {
				pages := []*webPage{a, tt.b}
				s := newStage(tt.deaths, choose)
				s.atomic = true
				if err := s.run(pages); err != nil {
					return err
				}
				return s.check(pages)
			})
			t.Logf("%d orders", runs)
		})
	}
}

// TestALostRecordIsOutwaited lets a page follow a leader that stands in a list behind a ticket whose
// record a failover has lost. No look-up counts what stands behind that as seen, so the page voids it,
// though it is not posted in that list itself.
func TestALostRecordIsOutwaited(t *testing.T) {
	leader := &webPage{name: 1, text: 1, keys: []listID{1, 2}}
	follows := &webPage{name: 2, text: 2, keys: []listID{1, 2}}
	s := newStage(0, func(int) int { return 0 })
	s.patience, s.tickets = 1, 8
	s.lists = map[listID][]ticket{1: {7, 8}, 2: {8}, leader.hash(): {8}}
	s.pages[8] = kept{page: leader}
	if err := s.run([]*webPage{follows}); err != nil {
		t.Fatal(err)
	}
	if err := s.check([]*webPage{leader, follows}); err != nil {
		t.Error(err)
	}
}

// branching is how many choices are gone through. After that all get their turns, for two
// impatient workers can void each other for ever. With SKINK_LONG=full it is more than the whole
// play of two pages that do not meet, and takes minutes.
func branching() int {
	if os.Getenv("SKINK_LONG") == "full" {
		return 15
	}
	return 10
}

// everyOrder runs a play once for every way to make its first choices, and says how often.
func everyOrder(t *testing.T, play func(choose func(int) int) error) (runs int) {
	type choice struct{ taken, of int }
	var path []choice
	most := branching()
	for {
		at := 0
		err := play(func(n int) int {
			at++
			if at > most {
				return at % n
			}
			if at > len(path) {
				path = append(path, choice{0, n})
			}
			return path[at-1].taken
		})
		if runs++; err != nil {
			t.Fatalf("after choices %v: %v", path, err)
		}
		path = path[:min(at, len(path))]
		for len(path) > 0 && path[len(path)-1].taken+1 == path[len(path)-1].of {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return runs
		}
		path[len(path)-1].taken++
	}
}
