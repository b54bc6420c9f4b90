package dedup_test

import (
	"bytes"
	"fmt"

	"skink/dedup"
)

// This example compares two texts by their runs of three words.
func Example() {
	var a, b dedup.Text
	a.Read([]byte("The lamp was lit in 1884, in a gale."))
	b.Read([]byte("The lamp was lit in 1884 — in a storm!"))
	x, y := a.Set(3), b.Set(3)
	fmt.Printf("%d and %d shingles, resemblance %.2f\n", len(x), len(y), dedup.Resemblance(x, y))
	// Output: 7 and 7 shingles, resemblance 0.75
}

// This example judges several texts, each against those before it.
func ExampleIndex() {
	rule, err := dedup.NewRule(0.6, "bands", 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	rule.Shingling.K = 3 // three words suit texts of one sentence; the default is ten
	index := dedup.NewIndex(rule)
	for _, page := range []struct{ id, text string }{
		{"harbour", "The lamp was lit in 1884, in a gale, and has burned every night since then."},
		{"copy", "THE LAMP WAS LIT in 1884 — in a gale — and has burned every night since then!"},
		{"archive", "The lamp was lit in 1884, in a storm, and has burned every night since then."},
		{"menu", "Home, about us"},
		{"ferry", "The ferry leaves from the north pier every hour, but for Sundays."},
	} {
		v := index.Add(page.id, page.text)
		fmt.Printf("%s: %s %s %.2f\n", page.id, v.Kind, v.DuplicateOf, v.Resemblance)
	}
	// Output:
	// harbour: unique  0.00
	// copy: exact harbour 1.00
	// archive: near harbour 0.65
	// menu: thin  0.00
	// ferry: unique  0.00
}

// Match tells whether a text is a duplicate without adding the text to the index.
func ExampleIndex_Match() {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	index := dedup.NewIndex(rule)
	index.Add("first", "A text of more than five words that the index knows.")
	fmt.Println(index.Match("A text of more than five words that the index knows?").DuplicateOf)
	fmt.Println(index.Match("A text of more than five words that it was never told.").Kind)
	// Output:
	// first
	// unique
}

// This example counts the shingles of Broder's rose as a list, and as a set.
func ExampleShingling() {
	s := dedup.Shingling{Unit: dedup.Words, K: 4}
	var t dedup.Text
	t.Read([]byte("a rose is a rose is a rose"))
	list := s.Append(nil, &t)
	fmt.Println(len(list), len(dedup.NewSet(list)))
	// Output: 5 3
}

// This example shows which pairs a scheme finds, and the number of lookups that it needs.
func ExampleBandsFor() {
	s, err := dedup.BandsFor(0.9)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: finds %.3f of the pairs at .8, %.3f of those at .5\n", s, s.Probability(0.8), s.Probability(0.5))
	// Output: bands: at least 1 of 12 bands of 7 minima each is equal: finds 0.941 of the pairs at .8, 0.090 of those at .5
}

// An index is saved in one run, and read in the next.
func ExampleIndex_Save() {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", 3)
	if err != nil {
		panic(err)
	}
	index := dedup.NewIndex(rule)
	index.Add("a", "The mill stood by the brook.")
	var file bytes.Buffer // or a file
	if err := index.Save(&file); err != nil {
		panic(err)
	}
	index, err = dedup.LoadIndex(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(index.Add("b", "THE MILL stood by the brook!").DuplicateOf)
	index.Remove("a")
	fmt.Println(index.Add("c", "The mill stood by the brook").Kind)
	// Output:
	// a
	// unique
}
