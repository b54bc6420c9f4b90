package dedup

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// bySearch judges texts one after another by the definition. It compares each text with all
// leaders, without an index.
func bySearch(rule Rule, texts []string) (all []Verdict) {
	var sets []Set
	var sketches []Sketch
	for i, text := range texts {
		var t Text
		t.ReadString(text)
		shingles := rule.Shingles(&t)
		sketches = append(sketches, NewSketch(shingles))
		sets = append(sets, NewSet(shingles))
		v := Verdict{Kind: Unique}
		switch earlier := earlierCopy(texts[:i], string(t.Bytes())); {
		case t.Len() == 0:
			v.Kind = Thin
		case earlier >= 0:
			v = Copy(uint64(earlier+1), fmt.Sprint(earlier), all[earlier])
		case rule.Short(t.Len()):
			v.Kind = Thin
		default:
			for j := range i {
				if all[j].Kind == Unique && meet(rule.Scheme, &sketches[i], &sketches[j]) {
					c := Candidate{Num: uint64(j + 1), Name: fmt.Sprint(j), Estimate: Estimate(&sketches[i], &sketches[j]), Set: sets[j]}
					v = better(v, rule.Judge(sets[i], rule.Shortlist([]Candidate{c}, t.Len())))
				}
			}
		}
		all = append(all, v)
	}
	return all
}

// earlierCopy returns the index of the first text with the given canonical text, or -1 if there is
// none.
func earlierCopy(texts []string, canonical string) int {
	for i, text := range texts {
		var t Text
		t.Read([]byte(text))
		if string(t.Bytes()) == canonical {
			return i
		}
	}
	return -1
}

// meet reports whether two sketches share enough keys to make their pages candidates.
func meet(s Scheme, a, b *Sketch) bool {
	return agree(s.Keys(nil, a), s.Keys(nil, b)) >= s.Meet()
}

// The verdicts of an index must be those of a search through all leaders, and Match must return the
// verdict that Add then returns.
func TestIndexFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, err := NewRule(rapid.SampledFrom([]float64{.2, .5, .8}).Draw(t, "similarity"), rapid.SampledFrom([]string{"bands", "super", "mega"}).Draw(t, "scheme"), 5)
		if err != nil {
			t.Fatal(err)
		}
		rule.Shingling.K = 2
		texts := rapid.SliceOfN(rapid.Custom(drawText), 0, 30).Draw(t, "texts")
		want := bySearch(rule, texts)
		x := NewIndex(rule)
		for i, text := range texts {
			if got := x.Match(text); got != want[i] {
				t.Errorf("text %d matches %+v, want %+v", i, got, want[i])
			}
			if got := x.Add(fmt.Sprint(i), text); got != want[i] {
				t.Errorf("text %d is %+v, want %+v", i, got, want[i])
			}
		}
	})
}

// drawText returns a random text of a few different sentences.
func drawText(t *rapid.T) string {
	var b strings.Builder
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 8).Draw(t, "sentences") {
		fmt.Fprintf(&b, "The %dth of ten sentences has words of its own such as a%d b%d c%d.\n", n, n, n, n)
	}
	return b.String()
}

// If several goroutines add equal texts at the same time, exactly one text is unique, and the
// others are its copies.
func TestIndexAtOnce(t *testing.T) {
	rule, err := NewRule(.8, "bands", 5)
	if err != nil {
		t.Fatal(err)
	}
	const workers, texts = 8, 50
	x := NewIndex(rule)
	verdicts := make([][]Verdict, workers)
	var wait sync.WaitGroup
	for w := range workers {
		verdicts[w] = make([]Verdict, texts)
		wait.Go(func() {
			for i := range texts {
				id := fmt.Sprintf("%d by %d", i, w)
				verdicts[w][i] = x.Add(id, numbered(i))
				if m := x.Match(numbered(i)); m.Kind != Exact {
					t.Errorf("%s was added, and is now %+v", id, m)
				}
			}
		})
	}
	wait.Wait()
	for i := range texts {
		unique, leaders := 0, map[string]bool{}
		for w := range workers {
			switch v := verdicts[w][i]; v.Kind {
			case Unique:
				unique++
				leaders[fmt.Sprintf("%d by %d", i, w)] = true
			case Exact:
				leaders[v.DuplicateOf] = true
			default:
				t.Errorf("text %d: %+v", i, v)
			}
		}
		if unique != 1 || len(leaders) != 1 {
			t.Errorf("text %d: %d were unique, led by %v", i, unique, leaders)
		}
	}
}

// numbered returns a text whose words occur in no text with another number.
func numbered(i int) string {
	var b strings.Builder
	for n := range 30 {
		fmt.Fprintf(&b, "w%dn%d ", i, n)
	}
	return b.String()
}

// If a template floods an index, only the first leaders under a key are compared.
func TestIndexIsBounded(t *testing.T) {
	rule, err := NewRule(.9, "bands", 5)
	if err != nil {
		t.Fatal(err)
	}
	x := NewIndex(rule)
	s := x.read(numbered(1))
	for n := range MaxPosting + 1 {
		l := &leader{Num: uint64(n + 1), place: uint64(n), ID: fmt.Sprint(n)}
		x.leaders = append(x.leaders, l)
		if n == MaxPosting {
			l.Sketch, l.Set = s.sketch, s.set
		}
		for _, key := range s.keys {
			x.postings[key] = append(x.postings[key], l)
		}
	}
	if got := x.Match(numbered(1)); got.Kind != Unique {
		t.Errorf("behind %d others it found %+v", MaxPosting, got)
	}
}

func BenchmarkIndexAdd(b *testing.B) {
	rule, err := NewRule(.8, "bands", DefaultMinWords)
	if err != nil {
		b.Fatal(err)
	}
	x := NewIndex(rule)
	text := string(english)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Add("a", fmt.Sprintf("%d %s", i, text))
	}
}

// An index from which texts are removed, or which is saved and read again, judges as a new index does that has
// only the remaining texts.
func TestIndexRemove(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("mill fish bell fog boat wheel brook door"))
	rapid.Check(t, func(t *rapid.T) {
		rule, err := NewRule(rapid.SampledFrom([]float64{.3, .6, .8}).Draw(t, "similarity"), rapid.SampledFrom([]string{"bands", "super", "mega"}).Draw(t, "scheme"), rapid.IntRange(0, 4).Draw(t, "words"))
		if err != nil {
			t.Fatal(err)
		}
		rule.Shingling.K = 2
		if rapid.Bool().Draw(t, "contained") {
			rule.Contained = .5
		}
		texts := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(word, 0, 12), func(words []string) string { return strings.Join(words, " ") }), 1, 12).Draw(t, "texts")
		x, want := NewIndex(rule), NewIndex(rule)
		gone := fmt.Sprint(rapid.IntRange(0, len(texts)).Draw(t, "gone"))
		for i, text := range texts {
			if v := x.Add(fmt.Sprint(i), text); fmt.Sprint(i) != gone && v.DuplicateOf != gone {
				want.Add(fmt.Sprint(i), text)
			}
		}
		x.Remove(gone)
		var file bytes.Buffer
		if err := x.Save(&file); err != nil {
			t.Fatal(err)
		}
		read, err := LoadIndex(&file)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range append(texts, rapid.StringMatching("((mill|fish|fog) ){0,12}").Draw(t, "another")) {
			w := want.Match(text)
			for _, x := range []*Index{x, read} {
				got := x.Match(text)
				if got.Leader, w.Leader = 0, 0; got != w {
					t.Fatalf("text %d, %q: got %+v, want %+v", i, text, got, w)
				}
			}
		}
		if got, want := slices.Collect(read.Unique()), slices.Collect(want.Unique()); !slices.Equal(got, want) {
			t.Fatalf("unique texts: %q, want %q", got, want)
		}
	})
}

func TestLoadIndex(t *testing.T) {
	var other bytes.Buffer
	if err := gob.NewEncoder(&other).Encode(saved{Tokenizer: TokenizerVersion + 1}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", "no index", other.String()} {
		if x, err := LoadIndex(strings.NewReader(file)); err == nil {
			t.Errorf("%q is read as an index: %+v", file, x)
		}
	}
}
