package learn

import (
	"fmt"
	"testing"
)

// Each case gives the visits to pages of a host, as PAGE:TEXT, and the ruling on each: fine, again
// or replaced. An empty text is the page itself. A text "!" is that of an error, whatever other pages
// show.
func TestOutage(t *testing.T) {
	type visit struct {
		page, text string
		want       Ruling
	}
	all := func(n int, text string, want Ruling) (visits []visit) {
		for i := range n {
			visits = append(visits, visit{fmt.Sprint(text, i), text, want})
		}
		return visits
	}
	for _, c := range []struct {
		name   string
		visits []visit
		left   bool // whether the host gets no more requests
		over   bool
	}{
		{"nothing has changed", all(12, "", Fine), false, true},
		{"one page is rewritten", []visit{{"a", "x", LookAgain}, {"b", "", Fine}, {"a", "x", Fine}}, false, false},
		{"two pages are rewritten together", []visit{{"a", "x", LookAgain}, {"b", "x", LookAgain}, {"a", "x", Fine}, {"b", "x", Fine}}, false, false},
		{"three pages have one new text", []visit{{"a", "x", LookAgain}, {"b", "x", LookAgain}, {"c", "x", Replaced}, {"a", "x", Replaced}, {"b", "x", Replaced}}, false, false},
		{"every page has a new text of its own", []visit{{"a", "x", LookAgain}, {"b", "y", LookAgain}, {"c", "z", LookAgain}, {"a", "x2", Fine}, {"b", "y2", Fine}, {"c", "z2", Fine}}, false, false},
		{"an outage", append([]visit{{"a", "x", LookAgain}, {"b", "x", LookAgain}}, all(3, "x", Replaced)...), true, false},
		{"empty pages", all(5, "!", Replaced), true, false},
		{"a few empty pages", append(all(6, "", Fine), all(4, "!", Replaced)...), false, true},
		{"an outage begins late", append(all(20, "", Fine), all(6, "!", Replaced)...), true, false},
		{"an outage is over", append(all(5, "!", Replaced), all(6, "", Fine)...), true, true},
	} {
		var o Outage
		for i, v := range c.visits {
			s := Shown{Page: v.page, Text: v.text, Error: v.text == "!"}
			if v.text != "" {
				s.Was = "was " + v.page
			}
			if got := o.Visit(s, false); got != v.want {
				t.Errorf("%s: visit %d: ruling %d, want %d", c.name, i, got, v.want)
			}
		}
		if (o.Why != "") != c.left || o.Over() != c.over {
			t.Errorf("%s: left alone: %q, over: %v", c.name, o.Why, o.Over())
		}
	}
}

// Copies that are rewritten with one text have replaced one text, so they are no outage. Pages that
// never had a text are not looked at again. If the host has changed for good, it gets requests.
func TestOutageExceptions(t *testing.T) {
	var o Outage
	for round, want := range []Ruling{LookAgain, Fine} {
		for _, page := range []string{"a", "b", "c", "d"} {
			if got := o.Visit(Shown{Page: page, Text: "x", Was: "one text"}, false); got != want {
				t.Errorf("copies, look %d at %s: %d, want %d", round+1, page, got, want)
			}
		}
	}
	if got := o.Visit(Shown{Page: "new", Text: "y", Was: "new", Never: true}, false); got != Fine {
		t.Errorf("a page without an earlier text: %d, want %d", got, Fine)
	}
	o = Outage{}
	for i := range 2 * lastVisits {
		if got := o.Visit(Shown{Page: fmt.Sprint(i), Text: "!", Error: true}, i == 0); got != Replaced || o.Why != "" {
			t.Errorf("for good: visit %d: %d, left alone: %q", i, got, o.Why)
		}
	}
	o = Outage{}
	for i := range 2 * lastVisits {
		if got := o.Visit(Shown{Page: fmt.Sprint(i), Text: "!", Error: true, Again: true}, false); got != Replaced || o.Why != "" {
			t.Errorf("the same errors as before: visit %d: %d, left alone: %q", i, got, o.Why)
		}
	}
}

// A list of groups forgets the group that has had no new member for the longest time.
func TestGroups(t *testing.T) {
	var g groups
	for i := range 3 * maxGroups {
		g.add("often", fmt.Sprint(i), maxMembers)
		g.add(fmt.Sprint("once ", i), "a", maxMembers)
	}
	if n := len(g); n != maxGroups {
		t.Errorf("%d groups, want %d", n, maxGroups)
	}
	if n := len(g.of("often")); n != maxMembers {
		t.Errorf("%d members, want %d", n, maxMembers)
	}
	if g.of("once 0") != nil || len(g.of(fmt.Sprint("once ", 3*maxGroups-1))) != 1 {
		t.Errorf("the groups are %v", g)
	}
}
