package ingest

import (
	"fmt"
	"testing"

	"skink/store"
)

// A line that differs at every visit is ignored from the third change on, but only if times,
// counters or tokens differ. Each case gives the line at five visits.
func TestRestlessIn(t *testing.T) {
	for _, c := range []struct {
		name    string
		line    string // has one verb for the word that changes
		words   [5]string
		ignored bool
	}{
		{"a time of day", "Retrieved at %s today.", [5]string{"9:58", "09:59:01", "10:00", "10:02", "9:40"}, true},
		{"a date", "Printed on %s.", [5]string{"2026-11-28", "2026-11-29", "2026-12-01", "2027-01-01", "2027-01-02"}, true},
		{"a date in figures", "Stand: %s", [5]string{"28.11.2026", "29.11.2026", "30.11.2026", "1.12.2026", "2.12.2026"}, true},
		{"a timestamp", "(%s)", [5]string{"2026-11-28T10:00:00Z", "2026-11-28T11:00:00Z", "2026-11-28T12:00:00Z", "2026-11-28T13:00:00Z", "2026-11-28T14:00:00Z"}, true},
		{"a day of the week", "Have a nice %s!", [5]string{"Friday", "Saturday", "Sunday", "Monday", "Tuesday"}, true},
		{"a duration", "Made in %s seconds.", [5]string{"0.12", "0.31", "0.05", "0.11", "0.2"}, true},
		{"a counter", "You are visitor %s of this page.", [5]string{"998", "1,002", "1,017", "1,018", "10,000"}, true},
		{"a captcha", "Type %s to write a comment.", [5]string{"QXBQ", "ABKQ", "PLMT", "WWRT", "ZZTR"}, true},
		{"a session id", "Session %s", [5]string{"a81bc81b", "f3e9d001", "0c11ffe2", "9d8e7f6a", "1a2b3c4d"}, true},

		{"a price", "It costs %s here.", [5]string{"$12", "$13", "$14", "$15", "$16"}, false},
		{"a price with a currency beside it", "It costs %s EUR here.", [5]string{"12", "13", "14", "15", "16"}, false},
		{"a price with a symbol before it", "It costs € %s here.", [5]string{"12", "13", "14", "15", "16"}, false},
		{"a price with cents", "It costs %s.", [5]string{"12.10", "12.20", "12.30", "12.40", "12.50"}, false},
		{"a price that falls", "Price: %s", [5]string{"1299", "1199", "1099", "999", "899"}, false},
		{"what is left in stock", "Only %s left.", [5]string{"9", "8", "7", "6", "5"}, false},
		{"a percentage", "It is %s full.", [5]string{"12%", "13%", "14%", "15%", "16%"}, false},
		{"news", "Today: %s wins.", [5]string{"Anna", "Ben", "Carla", "Dan", "Eva"}, false},
		{"more words", "Today: %s", [5]string{"1", "1 2", "1 2 3", "1 2 3 4", "1 2 3 4 5"}, false},
	} {
		text := func(visit int) string {
			return "The first line.\n\n" + fmt.Sprintf(c.line, c.words[visit]) + "\n\nThe last line."
		}
		var last []store.Restless
		for visit := 1; visit < len(c.words); visit++ {
			found, only := restlessIn(&store.Content{Kept: true, Text: text(visit - 1)}, last, text(visit))
			if want := c.ignored && visit >= restlessVisits; only != want {
				t.Errorf("%s: at visit %d, only restless lines differ: %v, want %v (%+v)", c.name, visit, only, want, found)
			}
			if _, edited := restlessIn(&store.Content{Kept: true, Text: text(visit-1) + "\n\nAn edit."}, last, text(visit)); edited {
				t.Errorf("%s: at visit %d, an edit is ignored", c.name, visit)
			}
			last = found
		}
	}
}

// An edit elsewhere does not interrupt the changes of a restless line. A line that stays the same at
// one visit counts as text again.
func TestRestlessBesideEdits(t *testing.T) {
	at := func(edit string, minute int) string { return fmt.Sprintf("%s\nIt is 10:%02d.\n", edit, minute) }
	var last []store.Restless
	kept := at("one", 0)
	for visit, c := range []struct {
		text string
		only bool
	}{{at("one", 1), false}, {at("two", 2), false}, {at("two", 3), true}, {at("two", 4), true}, {at("two", 4), false}, {at("two", 5), false}, {at("two", 6), false}, {at("two", 7), true}} {
		found, only := restlessIn(&store.Content{Kept: true, Text: kept}, last, c.text)
		if only != c.only {
			t.Errorf("visit %d: only restless lines differ: %v, want %v (%+v)", visit+1, only, c.only, found)
		}
		if last = found; !only {
			kept = c.text
		}
	}
}
