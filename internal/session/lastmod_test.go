package session

import (
	"testing"
	"time"

	"skink/store"
)

// TestHolds compares lastmods, in days after noon of the first visit, with the results of visits.
func TestHolds(t *testing.T) {
	for _, c := range []struct {
		name         string
		r            *store.Record
		lastmod      float64
		holds, known bool
	}{
		{"visited once", page(0), -1, false, false},
		{"unchanged since long before", page(10), -100, true, true},
		{"said to have changed, and did not", page(10), 5, false, true},
		{"changed when it is said to have", page(10, 4), 3, true, true},
		{"said to have changed before, and did later", page(10, 4), -1, false, true},
		{"said to have changed again, and did not", page(10, 4), 7, false, true},
		{"changed after the last visit", page(10), 11, false, false},
		{"a change that was just found", page(4, 4), 3, true, true},
		{"gone", with(page(10), func(r *store.Record) { r.Kind = store.Error }), 5, false, false},
		{"the day of a change", with(page(10, 4), func(r *store.Record) { r.Earlier[0].At = noon.Add(day) }), 0.5, true, true},
		{"the day before a change", with(page(10, 4), func(r *store.Record) { r.Earlier[0].At = noon.Add(3 * day) }), 0.5, false, true},
	} {
		holds, known := holds(c.r, noon.Add(time.Duration(c.lastmod*float64(day))))
		if holds != c.holds || known != c.known {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, holds, known, c.holds, c.known)
		}
	}
}

// Lastmods are trusted if enough of them were compared, and nearly all of these are right.
func TestTrusted(t *testing.T) {
	for _, c := range []struct {
		right, wrong int64
		want         bool
	}{{0, 0, false}, {7, 0, false}, {8, 0, true}, {8, 1, false}, {9, 1, true}, {0, 100, false}, {100, 20, false}} {
		if got := trusted(c.right, c.wrong); got != c.want {
			t.Errorf("%d right, %d wrong: %v", c.right, c.wrong, got)
		}
	}
	if changedBy(page(3), noon.Add(2*day)) || !changedBy(page(3), noon.Add(4*day)) {
		t.Error("a page changed after its last visit only if its lastmod is later")
	}
}
