package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// TestSaidBy compares pages with the answer of their host to a URL that cannot exist. Some cases
// have other pages of the pattern.
func TestSaidBy(t *testing.T) {
	const (
		apology = "We are sorry. The page that you were looking for has been moved, or it has never been here. The editors cannot say more about the reasons. You may go back, or begin again at the front page."
		wiki    = "There is currently no text in this page. You can search for this page title in other pages, search the related logs, or create this page."
	)
	template, list := words(99, 400), strings.Repeat("The mill was mended by the miller.\n", 9)+words(98, 50)
	real := func(title string, seed uint64, n int) [2]string { return [2]string{title, words(seed, n)} }
	reals := [][2]string{real("Lamps", 1, 100), real("Ropes", 2, 100), real("Paint", 3, 100)}
	untitled := [][2]string{real("Shop", 1, 100), real("Shop", 2, 100), real("Shop", 3, 100)}
	beside := func(n int) (all [][2]string) {
		for i, title := range []string{"Lamps", "Ropes", "Paint"} {
			all = append(all, [2]string{title, words(uint64(i+1), n) + template})
		}
		return all
	}
	junk := func(seed uint64) string { return apology + " " + words(seed, 40) }
	for _, c := range []struct {
		name         string
		others       [][2]string // title and text of each other page
		title, said  string      // title and text of the answer at /page/qwertz
		page, text   string      // title and text of the page
		url          string      // URL of the page; "" means /page/brushes
		isTheAnswer  bool
		knowsNothing bool // expected result if no other pages are known
	}{
		// These pages are errors.
		{name: "the same words", title: "Not found", said: apology, page: "Not found", text: apology, isTheAnswer: true, knowsNothing: true},
		{name: "the same few words", title: "Not found", said: "We are sorry.", page: "Not found", text: "We are sorry.", isTheAnswer: true, knowsNothing: true},
		{name: "another case and punctuation", title: "Not found", said: "We are sorry.", page: "NOT FOUND", text: "we are sorry", isTheAnswer: true, knowsNothing: true},
		{name: "the URL is repeated", title: "/page/qwertz", said: "There is no qwertz. " + wiki, page: "/page/brushes", text: "There is no Brushes. " + wiki, isTheAnswer: true, knowsNothing: true},
		{name: "the URL is repeated in words", title: "Qwertz", said: "There is no qwertz. " + wiki, url: "/page/soft_brushes%20%c3%bc", page: "Soft brushes Ü", text: "There is no Soft Brushes ü. " + wiki, isTheAnswer: true, knowsNothing: true},
		{name: "a query is repeated", title: "Results", said: "Nothing for qwertz.", url: "/page/?q=soft+brushes", page: "Results", text: "Nothing for soft brushes.", isTheAnswer: true, knowsNothing: true},
		{name: "another time", title: "Not found", said: apology + " It is 11:59.", page: "Not found", text: apology + " It is 12:01.", isTheAnswer: true, others: reals},
		{name: "a template and a time", title: "Not found", said: "No such product. It is 11:59. " + template, page: "Not found", text: "No such product. It is 12:01. " + template, isTheAnswer: true, others: beside(35)},
		{name: "a changing choice", title: "Not found", said: junk(7), page: "Not found", text: junk(8), isTheAnswer: true, others: reals},

		{name: "another heading above an apology and a changing choice", title: "Not found", said: "Lamps\n\nRopes\n" + junk(7), page: "Not found", text: "Paint\n\nOil\n" + junk(8), isTheAnswer: true, others: reals},

		// These are real pages.
		{name: "another title", title: "Not found", said: apology, page: "Lamps", text: apology},
		{name: "35 words beside a template", title: "Shop", said: "No such product. " + template, page: "Shop", text: words(5, 35) + template, others: beside(35)},
		{name: "8 words beside a template", title: "Shop", said: "No such product. " + template, page: "Shop", text: words(5, 8) + template, others: beside(8)},
		{name: "3 words beside a template", title: "Shop", said: "No such product. " + template, page: "Shop", text: words(5, 3) + template, others: beside(3)},
		{name: "8 words beside an empty form", title: "Shop", said: template, page: "Shop", text: words(5, 8) + template, others: beside(8)},
		{name: "3 words beside a template, among pages with more", title: "Shop", said: "No such product. " + template, page: "Shop", text: words(5, 3) + template, others: beside(100)},
		{name: "a thin entry", title: "Dictionary", said: "There is no such entry.", page: "Dictionary", text: words(5, 5), others: [][2]string{real("Dictionary a", 1, 5), real("Dictionary b", 2, 5), real("Dictionary c", 3, 5)}},
		{name: "glad, not sorry", title: "Shop", said: "We are sorry.", page: "Shop", text: "We are glad.", others: reals},
		{name: "a measured value", title: "Station", said: "It has 0 degrees. " + template, page: "Station", text: "It has 17 degrees. " + template,
			others: [][2]string{{"Station a", "It has 1 degrees. " + template}, {"Station b", "It has 2 degrees. " + template}, {"Station c", "It has 3 degrees. " + template}}},
		{name: "a list without items that has a name", title: "List", said: "No items.", page: "List", text: "Brushes of our own make: no items.", others: untitled},
		{name: "a changing choice where all have one title", title: "Shop", said: junk(7), page: "Shop", text: junk(8), others: untitled},
		{name: "a changing choice of which the others have the fixed part", title: "Not found", said: junk(7), page: "Not found", text: junk(8),
			others: [][2]string{{"Lamps", junk(1)}, {"Ropes", junk(2)}, {"Paint", junk(3)}}},
		{name: "a short apology above a long text", title: "Not found", said: apology, page: "Not found", text: apology + words(5, 300), others: reals},
		{name: "the answer has only the URL", title: "Qwertz", said: "qwertz", page: "Brushes", text: "brushes"},
		{name: "another heading above the same list", title: "Timeline", said: "Events of an unknown kind\n" + list, page: "Timeline", text: "Edits of wiki pages\n" + list, others: reals},
		{name: "two other lines above a list with other times", title: "Timeline", said: "Events\nAll kinds of them\n" + list + " 11:59", page: "Timeline", text: "Edits\nOf wiki pages\n" + list + " 12:01", others: reals},
		{name: "no text", title: "Not found", said: apology, page: "Not found", text: ""},
		{name: "half of the answer", title: "Not found", said: apology, page: "Not found", text: apology[:len(apology)/2]},
	} {
		var others []*pageWords
		for i, o := range c.others {
			others = append(others, wordsOf(fmt.Sprintf("https://a.example/page/%d", i), o[0], o[1]))
		}
		url := "https://a.example/page/brushes"
		if c.url != "" {
			url = "https://a.example" + c.url
		}
		answer, page := wordsOf("https://a.example/page/qwertz", c.title, c.said), wordsOf(url, c.page, c.text)
		if got := newSoftAnswer(answer, others).saidBy(page); got != c.isTheAnswer {
			t.Errorf("%s: it is the answer: %v, want %v", c.name, got, c.isTheAnswer)
		}
		if got := newSoftAnswer(answer, nil).saidBy(page); got != c.knowsNothing {
			t.Errorf("%s, and no other page is known: it is the answer: %v, want %v", c.name, got, c.knowsNothing)
		}
	}
}

func BenchmarkSaidBy(b *testing.B) {
	template := strings.Repeat(words(99, 400), 1)
	answer := newSoftAnswer(wordsOf("https://a.example/page/qwertz", "Shop", "No such product. "+template), nil)
	for _, c := range []struct{ name, title string }{{"another title", "Lamps"}, {"the same title", "Shop"}} {
		b.Run(c.name, func(b *testing.B) {
			text := words(5, 35) + template
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				answer.saidBy(wordsOf("https://a.example/page/brushes", c.title, text))
			}
		})
	}
}

func BenchmarkTitleWords(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		titleWords("How to paint a boat in spring | The harbour shop", "https://a.example/articles/how-to-paint-a-boat?page=2")
	}
}
