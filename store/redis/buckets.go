package redis

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/redis/rueidis"
)

// # Directories
//
// What is known of each URL is a few bytes, so what matters is what a server adds to them.
// A hash of Redis with up to 512 small fields is one piece of memory, in which a field costs
// two bytes; a larger one costs fifty a field. So a directory is many hashes, its buckets:
// 2^level of them, chosen by the first bits of the field, which double when they hold a
// hundred fields on average. A bucket is searched from its beginning, so it should not be
// much fuller.
//
// Who names the keys of a script must know the level. It changes seldom, so callers
// believe what they heard last, and a script that was called in another belief says so and
// does nothing. While buckets double, a field is in the bucket that is to be split, as long
// as that is there, else in its half: both are named. One script splits one bucket; whoever
// caused the doubling calls it for each, and says when all are done. If he dies, whoever
// notices goes on. How many have been split is counted beside them, so a server that takes over
// knows it as well as it knows what is in them, and does not hear that all are done before they are.

// A directory is the letter that its buckets' keys begin with and its sums are named by.
type directory string

const (
	known   directory = "U" // by a URL's field in the partition of its host: number of the visit*8 + state
	located directory = "I" // by a page's field in the partition of its id: the partition of its host
)

// A level is into how many buckets a directory is divided in one partition.
type level struct {
	bits      int
	splitting bool
}

func (l level) args() (bits, splitting string) {
	if l.splitting {
		return strconv.Itoa(l.bits), "1"
	}
	return strconv.Itoa(l.bits), "0"
}

// levels is what was heard of levels.
type levels struct {
	mu    sync.Mutex
	heard map[directory]*[partitions]level // guarded by mu
}

func newLevels() levels {
	return levels{heard: map[directory]*[partitions]level{known: {}, located: {}}}
}

func (l *levels) get(d directory, p partition) level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard[d][p]
}

func (l *levels) set(d directory, p partition, to level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard[d][p] = to
}

// bucketsOf are the keys of a field: its bucket, and the one that is split into it.
func (k keyspace) bucketsOf(d directory, p partition, l level, f field) (own, parent string) {
	bits := int(f[0])<<16 | int(f[1])<<8 | int(f[2])
	own = k.bucket(d, p, l.bits, bits)
	if l.splitting {
		return own, k.bucket(d, p, l.bits-1, bits)
	}
	return own, own
}

func (k keyspace) bucket(d directory, p partition, bits, hash int) string {
	return k.key(p, string(d), strconv.Itoa(bits), ".", strconv.Itoa(hash&(1<<bits-1)))
}

// A step is a call of a script that names buckets, made anew in each belief.
type step struct {
	dir  directory
	part partition
	call func(level) call
}

// steps makes calls until each was made in the right belief, and returns their answers.
func (s *Store) steps(ctx context.Context, steps ...step) ([][]rueidis.RedisMessage, error) {
	w := s.walk(steps...)
	return w.answers, s.hold(ctx, w)
}

// A walk is steps as a talk.
type walk struct {
	*Store
	steps   []step
	answers [][]rueidis.RedisMessage
	open    []int                          // steps without an answer
	done    func([][]rueidis.RedisMessage) // takes the answers, once there are all; nil: nobody does
}

func (s *Store) walk(steps ...step) *walk {
	w := &walk{Store: s, steps: steps, answers: make([][]rueidis.RedisMessage, len(steps)), open: make([]int, len(steps))}
	for i := range steps {
		w.open[i] = i
	}
	return w
}

func (w *walk) next() []rueidis.Completed {
	calls := make([]call, len(w.open))
	for i, at := range w.open {
		calls[i] = w.steps[at].call(w.levels.get(w.steps[at].dir, w.steps[at].part))
	}
	return w.runs(calls)
}

func (w *walk) hear(results []rueidis.RedisResult) error {
	var misled []int
	for i, result := range results {
		answer, err := result.ToArray()
		if err != nil {
			return explain(err)
		}
		at := w.open[i]
		if heard, ok := levelOf(answer); ok {
			w.levels.set(w.steps[at].dir, w.steps[at].part, heard)
			misled = append(misled, at)
			continue
		}
		w.answers[at] = answer
	}
	if w.open = misled; len(misled) == 0 && w.done != nil {
		w.done(w.answers)
	}
	return nil
}

// levelOf reads the answer of a script that was called in a wrong belief.
func levelOf(answer []rueidis.RedisMessage) (l level, ok bool) {
	if len(answer) != 3 || text(answer[0]) != "level" {
		return level{}, false
	}
	l.bits, _ = strconv.Atoi(text(answer[1]))
	l.splitting = text(answer[2]) == "1"
	return l, true
}

// text is an answer as text, "" if it is something else.
func text(m rueidis.RedisMessage) string {
	if n, err := m.AsInt64(); err == nil && m.IsInt64() {
		return strconv.FormatInt(n, 10)
	}
	s, _ := m.ToString()
	return s
}

// number is an answer as a number, 0 if it is something else.
func number(m rueidis.RedisMessage) int64 {
	n, _ := m.AsInt64()
	return n
}

var (
	splitScript = newScript("sums.lua", "directory.lua", "split.lua")
	grownScript = newScript("sums.lua", "directory.lua", "grown.lua")
)

// grow splits the buckets of a directory in the background.
func (s *Store) grow(d directory, p partition) {
	s.growing.Go(func() {
		if err := s.splitAll(s.life, d, p); err != nil && s.life.Err() == nil {
			s.levels.set(d, p, level{}) // whoever comes next will hear what there is, and that it is not done
		}
	})
}

// splitAtOnce is how many buckets are split in one round trip.
const splitAtOnce = 32

func (s *Store) splitAll(ctx context.Context, d directory, p partition) error {
	for {
		done, err := s.splitOn(ctx, d, p)
		if err != nil {
			return fmt.Errorf("divide the buckets of partition %d: %w", p, err)
		}
		if done {
			return nil
		}
	}
}

// splitOn splits the buckets that have not been split, and says whether all have been.
func (s *Store) splitOn(ctx context.Context, d directory, p partition) (done bool, err error) {
	sums := s.do(ctx, s.B().Hmget().Key(s.key(p, "s")).Field(string(d)+"L", string(d)+"S").Build())[0]
	values, err := sums.ToArray()
	if err != nil {
		return false, err
	}
	bits, first := int(number(values[0])), int(number(values[1]))
	if bits == 0 { // a server that took over knows of no split
		return true, nil
	}
	level := strconv.Itoa(bits)
	var calls []call
	half := 1 << (bits - 1)
	for i := first; i < half; i++ {
		keys := append(s.hostKeys(p), s.bucket(d, p, bits-1, i), s.bucket(d, p, bits, i), s.bucket(d, p, bits, i+half))
		calls = append(calls, call{splitScript, keys, []string{string(d), level, strconv.Itoa(i)}})
		if len(calls) == splitAtOnce || i == half-1 {
			if err := firstError(s.eval(ctx, calls...)); err != nil {
				return false, err
			}
			calls = calls[:0]
		}
	}
	answer, err := s.eval(ctx, call{grownScript, s.hostKeys(p), []string{string(d), level}})[0].ToString()
	return answer == "ok", err
}
