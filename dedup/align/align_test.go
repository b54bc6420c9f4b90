package align

import (
	"fmt"
	"strings"
	"testing"

	"skink/dedup"
)

func sideOf(text string) Side {
	t := new(dedup.Text)
	t.Locate()
	t.Read([]byte(text))
	return Side{Text: text, Tokens: t}
}

// shown formats rows for people: words of only one text in brackets, moved words in braces.
func shown(rows []Row) string {
	var b strings.Builder
	side := func(blocks []Block) string {
		var lines []string
		for _, block := range blocks {
			line := ""
			for _, p := range block {
				text := strings.TrimSpace(p.Text)
				switch p.Kind {
				case Removed, Added:
					text = "[" + text + "]"
				case Moved:
					text = fmt.Sprintf("{%d %s}", p.Move, text)
				}
				line = strings.TrimSpace(line + " " + text)
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, " / ")
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "%s: %s | %s\n", r.Kind, side(r.A), side(r.B))
	}
	return b.String()
}

const (
	one   = "The first is the breath of the bog, on still clear nights."
	two   = "The second comes from the sea and grows out of the west."
	three = "The third is smoke on the water, and it belongs to winter."
	four  = "Opening hours are printed on the door of the reading room."
)

func TestTexts(t *testing.T) {
	lines := func(all ...string) string { return strings.Join(all, "\n") }
	for _, c := range []struct{ what, a, b, want string }{
		{"the same but for case and punctuation", lines(one, two), lines(strings.ToUpper(one), two+"!"), "same: " + one + " | " + strings.ToUpper(one) + "\nsame: " + two + " | " + two + "!\n"},
		{"a line more", lines(one, three), lines(one, two, three), "same: " + one + " | " + one + "\nadded:  | [" + two + "]\nsame: " + three + " | " + three + "\n"},
		{"a line less", lines(one, two, three), lines(one, three), "same: " + one + " | " + one + "\nremoved: [" + two + "] | \nsame: " + three + " | " + three + "\n"},
		{"a word", "Call the plumber in Bergen before noon today", "Call the plumber in Tromsø before noon today", "changed: Call the plumber in [Bergen] before noon today | Call the plumber in [Tromsø] before noon today\n"},
		{"a line that moved", lines(four, one, two, three), lines(one, two, three, four), "moved: {1 " + four + "} | \nsame: " + one + " | " + one + "\nsame: " + two + " | " + two + "\nsame: " + three + " | " + three + "\nmoved:  | {1 " + four + "}\n"},
		{"a line in two", one + " " + two, lines(one, two), "same: " + one + " " + two + " | " + one + " / " + two + "\n"},
		{"nothing in common", one, "Quite another text stands here, about budgets and boats", "removed: [" + one + "] | \nadded:  | [Quite another text stands here, about budgets and boats]\n"},
		{"nothing at all", "", "", ""},
		{"nothing on one side", "", one, "added:  | [" + one + "]\n"},
		{"a line without words", lines(one, "* * *", two), lines(one, two), "same: " + one + " | " + one + "\nsame: * * * | \nsame: " + two + " | " + two + "\n"},
		{"another script", "שלום עולם וברוכים הבאים לכאן", "שלום עולם וברוכים הבאים לשם", "changed: שלום עולם וברוכים הבאים [לכאן] | שלום עולם וברוכים הבאים [לשם]\n"},
	} {
		rows, _ := Texts(sideOf(c.a), sideOf(c.b))
		if got := shown(rows); got != c.want {
			t.Errorf("%s:\n got\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	_, words := Texts(sideOf(four+"\n"+one+"\n"+two), sideOf(one+"\n"+two+"\n"+four+" Really."))
	if want := (Counts{Same: 24, MovedA: 11, MovedB: 11, Added: 1}); words != want {
		t.Errorf("got %+v, want %+v", words, want)
	}
}

func TestDifferences(t *testing.T) {
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf("word%d", i))
	}
	long := strings.Join(all, " ")
	halves := [2]string{strings.Join(all[:1500], " "), strings.Join(all[1500:], " ")}
	for _, c := range []struct {
		what, a, b, want string
		cut              bool
	}{
		{"each difference beside what is in its place", one + "\nCall the plumber in Bergen before noon today", one + "\nCall the plumber in Tromsø before noon today or never", "[Bergen|Tromsø][|or never]", false},
		{"words lost before words that were replaced", "Please call the plumber in Bergen before noon today", "Call the plumber in Tromsø before noon today", "[Please|][Bergen|Tromsø]", false},
		{"symbols beside words and on lines of their own", one + "\n^\n" + two + "\na ^ b", one + "\n//\n" + two + "\n// c b", "[a|c]", false},
		{"a line that moved, and a word", four + "\n" + one + "\n" + two, one + "\n" + two + " Really.\n" + four, "[|Really]", false},
		{"a copy of the words before it in a long text", long, halves[0] + " " + strings.Join(all[1490:1500], " ") + " " + halves[1], "[|" + strings.Join(all[1490:1500], " ") + "]", false},
		{"a beginning that only one text has, if the ends were cut off", one + " " + two + "\n" + three, "Unlike. " + one + " " + two, "[|Unlike]", true},
	} {
		got, a, b := "", sideOf(c.a), sideOf(c.b)
		a.Cut, b.Cut = c.cut, c.cut
		for d := range Differences(a, b) {
			got += "[" + d.Removed + "|" + d.Added + "]"
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
		if _, words := Texts(a, b); c.cut && words.Removed > 0 {
			t.Errorf("%s: %+v", c.what, words)
		}
	}
}

// FuzzTexts checks that the rows contain exactly the words of the two texts, and that the counts of
// words agree with them.
func FuzzTexts(f *testing.F) {
	f.Add(one+"\n"+two, two+"\n"+one)
	f.Add("a b a b a b a b\n\nc", "b a b a\nb a b")
	f.Add("\n \nx", "\r\n"+four)
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 4000 {
			return
		}
		rows, words := Texts(sideOf(a), sideOf(b))
		var left, right strings.Builder
		for _, r := range rows {
			for _, block := range r.A {
				for _, p := range block {
					left.WriteString(p.Text)
				}
			}
			for _, block := range r.B {
				for _, p := range block {
					right.WriteString(p.Text)
				}
			}
		}
		plain := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if plain(left.String()) != plain(a) || plain(right.String()) != plain(b) {
			t.Errorf("the rows hold %q and %q", left.String(), right.String())
		}
		if words.MovedA != words.MovedB {
			t.Errorf("%d words moved away, and %d came", words.MovedA, words.MovedB)
		}
		x, y := sideOf(a), sideOf(b)
		if words.Same+words.Removed+words.MovedA != x.Tokens.Len() || words.Same+words.Added+words.MovedB != y.Tokens.Len() {
			t.Errorf("%+v of %d and %d words", words, x.Tokens.Len(), y.Tokens.Len())
		}
	})
}
