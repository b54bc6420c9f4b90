package passage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// blocksOf reads a text in which a line that begins with # is a heading, perhaps with {#id} at its
// end.
func blocksOf(text string) (blocks []Block) {
	for line := range strings.SplitSeq(text, "\n") {
		head := strings.TrimLeft(line, "#")
		b := Block{Level: len(line) - len(head)}
		name, id, _ := strings.Cut(head, "{#")
		b.Text, b.ID = strings.TrimSpace(name), strings.TrimSuffix(id, "}")
		blocks = append(blocks, b)
	}
	return blocks
}

func show(p Passage) string {
	return fmt.Sprintf("%s #%s: %s", strings.Join(p.Path, " > "), p.Fragment, strings.ReplaceAll(p.Text, "\n", " / "))
}

// TestSplitAtHeadings checks that short sections become one passage each.
func TestSplitAtHeadings(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"no heading", "One.\nTwo.", []string{" #: One. / Two."}},
		{"sections", "Before.\n# Top {#top}\nOne.\n## Sub {#sub}\nTwo.\n## Next\nThree.", []string{
			" #: Before.", "Top #top: Top / One.", "Top > Sub #sub: Sub / Two.", "Top > Next #sub: Next / Three.",
		}},
		{"headings without text between them", "# Top {#top}\n## Sub {#sub}\nOne.", []string{"Top > Sub #sub: Top / Sub / One."}},
		{"a level is left out", "# Top\n### Deep\nOne.\n## Sub\nTwo.", []string{"Top > Deep #: Top / Deep / One.", "Top > Sub #: Sub / Two."}},
		{"a heading at the end", "One.\n# Last {#last}", []string{" #: One.", "Last #last: Last"}},
		{"white space", "  One \t two  \n \n", []string{" #: One \t two"}},
		{"no words", "\n \n# \n", nil},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Split(blocksOf(tt.text), DefaultWords) {
				got = append(got, show(p))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"One, two  – three.", []string{"One,", "two", "–", "three."}},
		{"a\u00a0b\u3000c", []string{"a", "b", "c"}},
		{"「日本」は、", []string{"「日", "本」", "は、"}},
		{"Go言語 1.26", []string{"Go", "言", "語", "1.26"}},
		{strings.Repeat("x", 250), []string{strings.Repeat("x", 100), strings.Repeat("x", 100), strings.Repeat("x", 50)}},
		{"bad \xff byte", []string{"bad", "\xff", "byte"}},
		{"", nil},
	} {
		if got := Words(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestSplitLongBlock checks that a block that is too long is cut between sentences, and a sentence
// that is too long between words.
func TestSplitLongBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sentences := sentence(r, 15) + " “" + sentence(r, 15) + "” " + sentence(r, 15) + " " + sentence(r, 90)
	passages := Split([]Block{{Text: sentences}}, 40)
	for i, p := range passages {
		if len(p.Words) > 40 {
			t.Errorf("%d words: %s", len(p.Words), p.Text)
		}
		if i == 0 && !endsSentence(p.Words[len(p.Words)-1]) {
			t.Errorf("cut inside a sentence: %s", p.Text)
		}
	}
	if len(passages) < 4 {
		t.Errorf("%d passages of %d words", len(passages), len(Words(sentences)))
	}
}

func sentence(r *rand.Rand, words int) string {
	var all []string
	for range words {
		all = append(all, fmt.Sprintf("w%d", r.IntN(5000)))
	}
	return strings.Join(all, " ") + "."
}

// article returns a page of short and long sections with paragraphs of 10 to 79 words.
func article(r *rand.Rand) (blocks []Block) {
	for i := range 8 {
		blocks = append(blocks, Block{Text: fmt.Sprint("Section ", i), Level: 1 + i%3, ID: fmt.Sprint("s", i)})
		paragraphs := 1 + r.IntN(4)
		if i%2 == 1 {
			paragraphs = 15 + r.IntN(30)
		}
		for range paragraphs {
			blocks = append(blocks, Block{Text: sentence(r, 10+r.IntN(70))})
		}
	}
	return blocks
}

func idsOf(passages []Passage) (ids [][16]byte) {
	for _, p := range passages {
		ids = append(ids, p.ID)
	}
	return ids
}

// edit returns a copy of blocks in which one paragraph has other words, and the paragraph's index. New
// words are words of other paragraphs.
func edit(r *rand.Rand, blocks []Block) ([]Block, int) {
	blocks = slices.Clone(blocks)
	some := func(n int) []string {
		words := strings.Fields(blocks[r.IntN(len(blocks))].Text)
		at := r.IntN(len(words))
		return slices.Clone(words[at:min(at+n, len(words))])
	}
	for {
		i := r.IntN(len(blocks))
		words := strings.Fields(blocks[i].Text)
		at := r.IntN(len(words))
		switch r.IntN(4) {
		case 0:
			words[at] = some(1)[0]
		case 1:
			words = slices.Insert(words, at, some(1)...)
		case 2:
			words = slices.Delete(words, at, at+1)
		case 3:
			words = slices.Insert(words, at, some(4)...)
		}
		if text := strings.Join(words, " "); blocks[i].Level == 0 && text != blocks[i].Text {
			blocks[i].Text = text
			return blocks, i
		}
	}
}

// holding returns the index of the passage with the first word of blocks[i].
func holding(passages []Passage, blocks []Block, i int) int {
	before := 0
	for _, b := range blocks[:i] {
		before += len(Words(b.Text))
	}
	for k, p := range passages {
		if before < len(p.Words) {
			return k
		}
		before -= len(p.Words)
	}
	return -1
}

// TestEditChangesOnePassage checks that an edit of a paragraph in a short section changes only the
// id of its passage. In a long section, a few of 1,000 edits move a cut. They may change at most
// two passages before and two after the edited one.
func TestEditChangesOnePassage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const edits = 1000
	alone, beside := 0, 0
	for n := range edits {
		blocks := article(r)
		changed, i := edit(r, blocks)
		before, after := Split(blocks, DefaultWords), Split(changed, DefaultWords)
		ids := idsOf(after)
		at := holding(before, blocks, i)
		short := sectionWords(blocks, i) <= DefaultWords-4
		for k, p := range before {
			kept := slices.Contains(ids, p.ID)
			switch {
			case k == at && kept:
				t.Errorf("edit %d: the passage of the edited paragraph keeps its id", n)
			case k != at && !kept && (short || k < at-2 || k > at+2):
				t.Errorf("edit %d: passage %d changes, and the edit is in passage %d", n, k, at)
			case k != at && !kept:
				beside++
			}
		}
		if len(before) == len(after) && sameBut(before, after, at) {
			alone++
		}
	}
	t.Logf("of %d edits, %d change the id of one passage only; %d passages beside it change", edits, alone, beside)
	if alone < edits*95/100 {
		t.Errorf("only %d of %d edits change one id", alone, edits)
	}
}

// sameBut reports whether two lists of passages have different ids at index at and the same ids at
// all other indexes.
func sameBut(a, b []Passage, at int) bool {
	for k := range a {
		if (a[k].ID != b[k].ID) != (k == at) {
			return false
		}
	}
	return true
}

// sectionWords returns the number of words in the section of blocks[i].
func sectionWords(blocks []Block, i int) (n int) {
	from, to := i, i+1
	for blocks[from].Level == 0 {
		from--
	}
	for to < len(blocks) && blocks[to].Level == 0 {
		to++
	}
	for _, b := range blocks[from:to] {
		n += len(Words(b.Text))
	}
	return n
}

// TestInsertionKeepsLaterPassages checks that a new paragraph at the beginning of a long section
// does not move the cuts after it.
func TestInsertionKeepsLaterPassages(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 200 {
		var blocks []Block
		for range 100 {
			blocks = append(blocks, Block{Text: sentence(r, 10+r.IntN(70))})
		}
		before := Split(blocks, DefaultWords)
		after := idsOf(Split(slices.Insert(slices.Clone(blocks), 1, Block{Text: sentence(r, 60)}), DefaultWords))
		lost := 0
		for _, p := range before {
			if !slices.Contains(after, p.ID) {
				lost++
			}
		}
		if lost > 2 {
			t.Errorf("insertion %d: %d of %d passages change", n, lost, len(before))
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# Top {#top}\nOne two three.\n## Sub\nFour. Five.", 20)
	f.Add("日本語の文章。"+strings.Repeat("長い段落です。", 20), 21)
	f.Add(strings.Repeat("a b c d. ", 100), 30)
	f.Add(strings.Repeat("x", 5000)+"\n\xff\u0300\u200b", 0)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = MinWords + max(most, 0)%1000
		blocks := blocksOf(text)
		var want, got []string
		for _, b := range blocks {
			want = append(want, Words(b.Text)...)
		}
		passages := Split(blocks, most)
		for _, p := range passages {
			got = append(got, p.Words...)
			if n := len(p.Words); n == 0 || n > most {
				t.Errorf("a passage has %d words, and the bound is %d", n, most)
			}
			again := Split([]Block{{Text: strings.Join(p.Words, "\n")}}, most)
			if len(again) != 1 || again[0].ID != p.ID {
				t.Errorf("the id of %q depends on more than its words", p.Text)
			}
			if n := len(p.Text); n > len(text) {
				t.Errorf("a passage of %d bytes from a text of %d", n, len(text))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	blocks := article(rand.New(rand.NewPCG(7, 8)))
	n := 0
	for _, block := range blocks {
		n += len(block.Text)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		Split(blocks, DefaultWords)
	}
}

// BenchmarkSplitHostile divides texts that are made to be slow. They should take about as much time
// for each byte as other texts.
func BenchmarkSplitHostile(b *testing.B) {
	const size = 1 << 20
	for name, text := range map[string]string{
		"one word again and again": strings.Repeat("a ", size/2),
		"one line without spaces":  strings.Repeat("x", size),
		"one sentence":             strings.Repeat("日", size/3),
		"empty lines":              strings.Repeat("\n", size),
		"a word a line":            strings.Repeat("a\n", size/2),
		"headings":                 strings.Repeat("# a\n", size/4),
		"headings and text":        strings.Repeat("###### a\nb\n", size/11),
	} {
		blocks := blocksOf(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Split(blocks, MinWords)
			}
		})
	}
}

// Words returns the words of a text.
func Words(text string) (all []string) {
	for _, w := range appendWords(nil, 0, text) {
		all = append(all, text[w.start:w.end])
	}
	return all
}

// A passage has the last fragment of the headings that begin it, or of the nearest block at or above its first one.
func TestFragments(t *testing.T) {
	paragraph := func(word string) string { return strings.Repeat(word+" ", MinWords-3) + word + "." }
	blocks := []Block{
		{Text: paragraph("a")}, {Text: paragraph("b"), ID: "b"}, {Text: paragraph("c")},
		{Text: "Top", Level: 1, ID: "top"}, {Text: "Sub", Level: 2}, {Text: paragraph("d"), ID: "d"}, {Text: paragraph("e"), ID: "e"}, {Text: paragraph("f")},
	}
	var got []string
	for _, p := range Split(blocks, MinWords) {
		got = append(got, p.Words[len(p.Words)-1]+"#"+p.Fragment)
	}
	if want := []string{"a.#", "b.#b", "c.#b", "d.#top", "e.#e", "f.#e"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
