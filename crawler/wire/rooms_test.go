package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A dripping body returns some bytes at once, and the rest after a pause.
type dripping struct {
	first, rest int
	pause       time.Duration
	ended       bool
}

func (d *dripping) Read(p []byte) (int, error) {
	if d.first == 0 && !d.ended {
		time.Sleep(d.pause)
		d.ended, d.first = true, d.rest
	}
	n := min(len(p), d.first)
	d.first -= n
	if n == 0 {
		return 0, errors.New("the end")
	}
	return n, nil
}

// Bodies that are together larger than their room are all read to the end. The room never contains
// more than its limit plus one body.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		name        string
		bodies      int
		first, rest int
		room        int64
		most        int64
	}{
		{"small ones take nothing", 50, roomStep, 0, 0, roomStep},
		{"large ones wait for each other", 20, 0, 10 * roomStep, 20 * roomStep, 31 * roomStep},
		{"all hold a half and want another", 20, 5 * roomStep, 5 * roomStep, 100 * roomStep, 111 * roomStep},
		{"no room but for one", 20, 3 * roomStep, 3 * roomStep, 0, 7 * roomStep},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &room{limit: c.room}
				var ended atomic.Int64
				for range c.bodies {
					go func() {
						s := &Share{of: r}
						defer s.Release()
						ctx, clock, cancel := StartClock(t.Context(), time.Minute, time.Minute)
						defer cancel()
						body, _ := readAll(s.within(ctx, &dripping{first: c.first, rest: c.rest, pause: time.Second}, clock))
						if len(body) != c.first+c.rest {
							t.Errorf("%d bytes were read: %v", len(body), context.Cause(ctx))
						}
						if clock.Used() > 10*time.Second {
							t.Errorf("the clock ran for %v while the body waited", clock.Used())
						}
						time.Sleep(10 * time.Second) // the time for processing the page
						ended.Add(1)
					}()
				}
				for ended.Load() < int64(c.bodies) {
					time.Sleep(100 * time.Millisecond)
					r.mu.Lock()
					if r.held > c.most {
						t.Errorf("%d bytes are held, want %d at most", r.held, c.most)
					}
					r.mu.Unlock()
				}
				synctest.Wait()
				if r.held != 0 {
					t.Errorf("%d bytes are held at the end", r.held)
				}
			})
		})
	}
}

// The time limit ends a body that stalls while it has memory that others need. It does not end a
// body that waits for memory.
func TestRoomOfABodyThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{limit: 2 * roomStep}
		read := func(d *dripping) (n int, took time.Duration) {
			began := time.Now()
			s := &Share{of: r}
			defer s.Release()
			ctx, clock, cancel := StartClock(t.Context(), 30*time.Second, 30*time.Second)
			defer cancel()
			body, _ := readAll(s.within(ctx, readerFunc(func(p []byte) (int, error) {
				if ctx.Err() != nil {
					return 0, context.Cause(ctx)
				}
				return d.Read(p)
			}), clock))
			return len(body), time.Since(began)
		}
		go read(&dripping{first: 3*roomStep - 1, rest: roomStep, pause: 40 * time.Second})
		time.Sleep(time.Second)
		go func() {
			n, took := read(&dripping{first: 3 * roomStep, rest: 1})
			if n != 3*roomStep+1 {
				t.Errorf("the first to wait got %d bytes", n)
			}
			if took > time.Second { // this body may exceed the limit of the room, so it need not wait
				t.Errorf("and took %v", took)
			}
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.held != 0 {
			t.Errorf("%d bytes are held at the end", r.held)
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
