// Package line keeps things in lines, each with the first by some order in front.
//
//	soonest := line.New(func(a, b *host) bool { return a.due.Before(b.due) }, func(h *host) *line.Spot[*host] { return &h.spot })
//	soonest.Put(h)
//	next := soonest.First()
//
// A thing stands in one line at most, so it is enough to say where it belongs now.
package line

import (
	"container/heap"
	"slices"
)

// A Line holds things in an order, the first of them at hand. To put one, move one or take
// one out costs the logarithm of how many there are. One goroutine at a time uses it.
type Line[T any] struct {
	things []T // a heap
	before func(a, b T) bool
	spot   func(T) *Spot[T]
}

// A Spot is where a thing stands, kept in the thing itself. The zero value is in no line.
type Spot[T any] struct {
	line  *Line[T]
	index int // in its things
}

// New makes an empty line in the order of before; spot is where a thing keeps its spot.
// Whoever changes what a thing is ordered by puts it again, or takes it out first.
func New[T any](before func(a, b T) bool, spot func(T) *Spot[T]) *Line[T] {
	return &Line[T]{before: before, spot: spot}
}

// Len is how many things stand in the line.
func (l *Line[T]) Len() int { return len(l.things) }

// First is the thing in front of a line that is not empty.
func (l *Line[T]) First() T { return l.things[0] }

// Has says whether a thing stands in the line for which is says yes.
func (l *Line[T]) Has(is func(T) bool) bool { return slices.ContainsFunc(l.things, is) }

// Put puts a thing where it belongs in the line, whatever line it was in.
func (l *Line[T]) Put(t T) {
	s := l.spot(t)
	if s.line == l {
		heap.Fix((*byOrder[T])(l), s.index)
		return
	}
	s.Leave()
	heap.Push((*byOrder[T])(l), t)
}

// Leave takes the thing of the spot out of the line it is in.
func (s *Spot[T]) Leave() {
	if s.line != nil {
		heap.Remove((*byOrder[T])(s.line), s.index)
	}
}

// Line is the line that the thing of the spot stands in; nil: in none.
func (s *Spot[T]) Line() *Line[T] { return s.line }

// byOrder is a line as container/heap sees it.
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
	q.things = slices.Delete(q.things, last, last+1) // which also forgets it
	*q.spot(t) = Spot[T]{}
	return t
}
