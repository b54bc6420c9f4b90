package priority

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A thing comes before all things with larger numbers.
type thing struct {
	number int
	spot   Spot[*thing]
}

func spotOf(t *thing) *Spot[*thing] { return &t.spot }

// After any sequence of calls of Put and Leave, the first thing of each queue has the smallest
// number in it, and each thing knows its queue.
func TestQueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queues := []*Queue[*thing]{
			New(func(a, b *thing) bool { return a.number < b.number }, spotOf),
			New(func(a, b *thing) bool { return a.number > b.number }, spotOf),
		}
		orders := []func(a, b *thing) int{
			func(a, b *thing) int { return cmp.Compare(a.number, b.number) },
			func(a, b *thing) int { return cmp.Compare(b.number, a.number) },
		}
		things := make([]*thing, 12)
		where := make([]int, len(things)) // index of the queue that must contain each thing; -1 means none
		for i := range things {
			things[i], where[i] = &thing{}, -1
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				i := rapid.IntRange(0, len(things)-1).Draw(t, "thing")
				where[i] = rapid.IntRange(0, len(queues)-1).Draw(t, "queue")
				things[i].spot.Leave() // the number may change only while the thing is in no queue
				things[i].number = rapid.IntRange(0, 20).Draw(t, "number")
				queues[where[i]].Put(things[i])
			},
			"move": func(t *rapid.T) {
				i := rapid.IntRange(0, len(things)-1).Draw(t, "thing")
				if where[i] >= 0 {
					things[i].number = rapid.IntRange(0, 20).Draw(t, "number")
					queues[where[i]].Put(things[i])
				}
			},
			"leave": func(t *rapid.T) {
				i := rapid.IntRange(0, len(things)-1).Draw(t, "thing")
				things[i].spot.Leave()
				where[i] = -1
			},
			"": func(t *rapid.T) {
				for l, queue := range queues {
					var in []*thing
					for i, w := range where {
						if w == l {
							in = append(in, things[i])
						}
						if got := things[i].spot.Queue(); w >= 0 && got != queues[w] || w < 0 && got != nil {
							t.Fatalf("thing %d is in queue %p, want number %d", i, got, w)
						}
					}
					if queue.Len() != len(in) {
						t.Fatalf("queue %d has %d things, want %d", l, queue.Len(), len(in))
					}
					if len(in) == 0 {
						continue
					}
					least := slices.MinFunc(in, orders[l])
					if queue.First().number != least.number {
						t.Fatalf("queue %d begins with %d, want %d", l, queue.First().number, least.number)
					}
					if !queue.Has(func(t *thing) bool { return t == least }) {
						t.Fatalf("queue %d does not have %d", l, least.number)
					}
				}
			},
		})
	})
}
