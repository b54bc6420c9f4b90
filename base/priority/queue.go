// Package priority implements priority queues whose elements store their own position, so that an
// element can be moved or removed without a search.
//
//	soonest := priority.New(func(a, b *host) bool { return a.due.Before(b.due) }, func(h *host) *priority.Spot[*host] { return &h.spot })
//	soonest.Put(h)
//	next := soonest.First()
//
// A thing is in at most one queue: Put removes it from any queue that it was in.
package priority

import (
	"container/heap"
	"slices"
)

// A Queue is a priority queue of things of type T. Adding, moving or removing one of n things takes
// O(log n) time. A Queue is not safe for concurrent use.
type Queue[T any] struct {
	things []T // a binary heap
	before func(a, b T) bool
	spot   func(T) *Spot[T]
}

// A Spot is the position of a thing, stored in the thing itself. The zero value is in no queue.
type Spot[T any] struct {
	queue *Queue[T]
	index int // in queue.things
}

// New returns an empty queue. The before function reports whether thing a comes before thing b, and
// spot returns a thing's Spot. After changing a property that before compares, the caller must call
// Put for the thing, unless the thing has already left the queue.
func New[T any](before func(a, b T) bool, spot func(T) *Spot[T]) *Queue[T] {
	return &Queue[T]{before: before, spot: spot}
}

// Len returns the number of things in the queue.
func (l *Queue[T]) Len() int { return len(l.things) }

// First returns the first thing of a queue. It panics if the queue is empty.
func (l *Queue[T]) First() T { return l.things[0] }

// Has reports whether match returns true for any thing in the queue.
func (l *Queue[T]) Has(match func(T) bool) bool { return slices.ContainsFunc(l.things, match) }

// Put adds a thing to the queue, or moves it to its new position. It removes the thing from any
// other queue.
func (l *Queue[T]) Put(t T) {
	s := l.spot(t)
	if s.queue == l {
		heap.Fix((*byOrder[T])(l), s.index)
		return
	}
	s.Leave()
	heap.Push((*byOrder[T])(l), t)
}

// Leave removes the thing with this Spot from its queue, if it is in one.
func (s *Spot[T]) Leave() {
	if s.queue != nil {
		heap.Remove((*byOrder[T])(s.queue), s.index)
	}
}

// Queue returns the queue that contains the thing with this Spot, or nil.
func (s *Spot[T]) Queue() *Queue[T] { return s.queue }

type byOrder[T any] Queue[T]

func (q *byOrder[T]) Len() int           { return len(q.things) }
func (q *byOrder[T]) Less(i, j int) bool { return q.before(q.things[i], q.things[j]) }

func (q *byOrder[T]) Swap(i, j int) {
	q.things[i], q.things[j] = q.things[j], q.things[i]
	q.spot(q.things[i]).index, q.spot(q.things[j]).index = i, j
}

func (q *byOrder[T]) Push(x any) {
	t := x.(T)
	*q.spot(t) = Spot[T]{(*Queue[T])(q), len(q.things)}
	q.things = append(q.things, t)
}

func (q *byOrder[T]) Pop() any {
	last := len(q.things) - 1
	t := q.things[last]
	q.things = slices.Delete(q.things, last, last+1) // slices.Delete also clears the vacated element
	*q.spot(t) = Spot[T]{}
	return t
}
