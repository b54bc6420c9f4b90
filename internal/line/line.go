// Package line implements priority queues in which an element knows its queue.
//
//	soonest := line.New(func(a, b *host) bool { return a.due.Before(b.due) }, func(h *host) *line.Spot[*host] { return &h.spot })
//	soonest.Put(h)
//	next := soonest.First()
//
// A thing is in at most one line, so Put also removes it from the line that it was in.
package line

import (
	"container/heap"
	"slices"
)

// A Line is a priority queue of things. Adding, moving or removing one of n things takes O(log n)
// time. A Line is not safe for concurrent use.
type Line[T any] struct {
	things []T // a heap
	before func(a, b T) bool
	spot   func(T) *Spot[T]
}

// A Spot is the position of a thing, stored in the thing itself. The zero value is in no line.
type Spot[T any] struct {
	line  *Line[T]
	index int // index in line.things
}

// New returns an empty line in the order of before; spot returns the Spot of a thing. After a
// change to the key of a thing, the caller must put it again, or remove it before the change.
func New[T any](before func(a, b T) bool, spot func(T) *Spot[T]) *Line[T] {
	return &Line[T]{before: before, spot: spot}
}

// Len returns the number of things in the line.
func (l *Line[T]) Len() int { return len(l.things) }

// First returns the first thing of a line. It panics if the line is empty.
func (l *Line[T]) First() T { return l.things[0] }

// Has reports whether is returns true for any thing in the line.
func (l *Line[T]) Has(is func(T) bool) bool { return slices.ContainsFunc(l.things, is) }

// Put adds a thing to the line, or moves it to its new position. It removes the thing from any
// other line.
func (l *Line[T]) Put(t T) {
	s := l.spot(t)
	if s.line == l {
		heap.Fix((*byOrder[T])(l), s.index)
		return
	}
	s.Leave()
	heap.Push((*byOrder[T])(l), t)
}

// Leave removes the thing of the spot from its line.
func (s *Spot[T]) Leave() {
	if s.line != nil {
		heap.Remove((*byOrder[T])(s.line), s.index)
	}
}

// Line returns the line that holds the thing of the spot, or nil if there is none.
func (s *Spot[T]) Line() *Line[T] { return s.line }

// byOrder implements heap.Interface for a line.
type byOrder[T any] Line[T]

func (q *byOrder[T]) Len() int           { return len(q.things) }
func (q *byOrder[T]) Less(i, j int) bool { return q.before(q.things[i], q.things[j]) }

func (q *byOrder[T]) Swap(i, j int) {
	q.things[i], q.things[j] = q.things[j], q.things[i]
	q.spot(q.things[i]).index, q.spot(q.things[j]).index = i, j
}

func (q *byOrder[T]) Push(x any) {
	t := x.(T)
	*q.spot(t) = Spot[T]{(*Line[T])(q), len(q.things)}
	q.things = append(q.things, t)
}

func (q *byOrder[T]) Pop() any {
	last := len(q.things) - 1
	t := q.things[last]
	q.things = slices.Delete(q.things, last, last+1) // which also clears the element
	*q.spot(t) = Spot[T]{}
	return t
}
