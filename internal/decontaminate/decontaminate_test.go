package decontaminate

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
	"skink/extract"
	"skink/internal/corpus"
)

// TestBruteForce compares what is found in random corpora with a program that compares all words with
// all words. The vocabulary is small, so many runs are shared in part, several times, or by chance.
func TestBruteForce(t *testing.T) {
	hits, cuts, twice := 0, 0, 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := []int{1, 3, 5, 8, 9, 10, 13, 13, 13, 20}[r.IntN(10)]
		vocabulary := []int{2, 3, 20, 1000}[r.IntN(4)]
		text := func(length int) (words []string) {
			for range length {
				words = append(words, fmt.Sprint("w", r.IntN(vocabulary)))
			}
			return words
		}
		var items, records [][]string
		for range 30 {
			items = append(items, text(r.IntN(40)))
		}
		for range 80 {
			words := text(r.IntN(60))
			for range r.IntN(3) { // copy a part of an item
				if item := items[r.IntN(len(items))]; len(item) > 0 {
					from := r.IntN(len(item))
					words = slices.Insert(words, r.IntN(len(words)+1), item[from:from+1+r.IntN(len(item)-from)]...)
				}
			}
			records = append(records, words)
		}
		b, err := Read(t.Context(), inputs(t, items, r), n)
		if err != nil {
			continue // all items are short
		}
		for _, action := range []Action{Remove, Cut, Mark} {
			s := &Screen{Benchmark: b, Action: action}
			for i := range b.items {
				b.items[i].Records.Store(0)
			}
			counts := make([]int64, len(items))
			i := 0
			for rec, err := range inputs(t, records, r).Records(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				before := string(rec.Raw)
				got, err := rec.Text(t.Context(), extract.Options{})
				if err != nil {
					t.Fatal(err)
				}
				verdict, err := s.Record(t.Context(), rec, extract.Options{}, &got)
				if err != nil {
					t.Fatal(err)
				}
				want, rest := bruteForce(records[i], items, n)
				if action == Cut {
					for again := want; len(again) > 0; {
						var more []string
						if again, more = bruteForce(rest, items, n); len(again) > 0 {
							want, rest, twice = append(want, again...), more, twice+1
						}
					}
					slices.Sort(want)
					want = slices.Compact(want)
					cuts += len(want)
				}
				for _, k := range want {
					counts[k]++
				}
				hits += len(want)
				var ids []string
				for _, k := range want {
					ids = append(ids, fmt.Sprint(k))
				}
				if !slices.Equal(rec.Contaminated, ids) {
					t.Fatalf("seed %d, %s, run %d: record %d has items %v, want %v", seed, action, n, i, rec.Contaminated, ids)
				}
				if wantLeaves := len(want) > 0 && (action == Remove || action == Cut && len(rest) == 0); (verdict == Verdict) != wantLeaves {
					t.Fatalf("seed %d, %s: record %d leaves with %q, want %v", seed, action, i, verdict, wantLeaves)
				}
				if action == Cut && len(rest) > 0 {
					if words := wordsOf(got.Doc.Text); !slices.Equal(words, rest) {
						t.Fatalf("seed %d: record %d has the words\n%q, want\n%q", seed, i, words, rest)
					}
				}
				if (len(want) == 0 || action == Mark) && string(rec.Raw) != before {
					t.Fatalf("seed %d: record %d changed", seed, i)
				}
				i++
			}
			for k, n := range counts {
				if got := b.items[k].Records.Load(); got != n {
					t.Errorf("seed %d: %d records have item %d, want %d", seed, got, k, n)
				}
			}
		}
	}
	t.Logf("%d hits, %d of them cut, %d cuts joined words to another run", hits, cuts, twice)
	if hits < 1000 || cuts < 300 || twice < 10 {
		t.Error("the corpora have too few of these cases to test anything")
	}
}

// bruteForce returns the numbers of the items that share a run of n words with a record, or all their
// words if they have 8 to n-1, and the words of the record outside these runs.
func bruteForce(record []string, items [][]string, n int) (found []int, rest []string) {
	in := make([]bool, len(record))
	for k, item := range items {
		length := n
		if len(item) < n && len(item) >= 8 {
			length = len(item)
		}
		hit := false
		for i := 0; i+length <= len(record); i++ {
			for j := 0; j+length <= len(item); j++ {
				if slices.Equal(record[i:i+length], item[j:j+length]) {
					hit = true
					for x := i; x < i+length; x++ {
						in[x] = true
					}
				}
			}
		}
		if hit {
			found = append(found, k)
		}
	}
	for i, w := range record {
		if !in[i] {
			rest = append(rest, w)
		}
	}
	return found, rest
}

func wordsOf(text string) (all []string) {
	var words dedup.Text
	words.Read([]byte(text))
	for i := range words.Len() {
		all = append(all, words.Token(i))
	}
	return all
}

// inputs writes texts to a JSON Lines file. Case and punctuation are random.
func inputs(t *testing.T, texts [][]string, r *rand.Rand) *corpus.Inputs {
	t.Helper()
	var lines strings.Builder
	for i, words := range texts {
		var text strings.Builder
		for _, w := range words {
			if r.IntN(4) == 0 {
				w = strings.ToUpper(w)
			}
			text.WriteString([]string{" ", "\n  ", ", ", " – \""}[r.IntN(4)] + w)
		}
		line, _ := json.Marshal(map[string]any{"id": i, "text": text.String()})
		lines.Write(append(line, '\n'))
	}
	name := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := os.WriteFile(name, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return &corpus.Inputs{Paths: []string{name}, Unreadable: func(err error) { t.Error(err) }}
}

// Two runs with the same hash are different if their words are.
func TestCollision(t *testing.T) {
	b, err := Read(t.Context(), inputs(t, [][]string{strings.Fields("a b c d e f g h i j k l m n")}, rand.New(rand.NewPCG(1, 1))), 13)
	if err != nil {
		t.Fatal(err)
	}
	f := &finder{Benchmark: b, seen: make([]uint32, 1)}
	f.words.Locate()
	f.search++
	f.words.Read([]byte("a b c d e f g h i j k l M"))
	for _, s := range b.long.starts {
		f.compare(0, s.hash, b.long.starts)
	}
	if !slices.Equal(f.items, []uint32{0}) {
		t.Errorf("the run is found in the items %v", f.items)
	}
	for _, other := range []string{"a b c d e f g h i j k l x", "a b c d e f g h i j k l mm", "a b c d e f g h i j k lm n"} {
		f.items = nil
		f.search++
		f.words.Read([]byte(other))
		for _, s := range b.long.starts {
			if f.compare(0, s.hash, b.long.starts); len(f.items) > 0 {
				t.Errorf("%q is found", other)
			}
		}
	}
}

// A text whose words have invisible characters is cut as well, and a text that cannot be replaced leaves.
func TestCutForms(t *testing.T) {
	dir := t.TempDir()
	const run = "the quick brown fox jumps over the lazy dog and runs far away"
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	b, err := Read(t.Context(), &corpus.Inputs{Paths: []string{write("benchmark.txt", run)}}, 13)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ content, want string }{
		"a.txt":    {"Before.\n\n\tThe quick brown fox jumps over the lazy dog -- and runs FAR away!  After.", "Before.\n\n\t!  After."},
		"b.md":     {"# Fox\n\nthe quick br\u200bown fox jumps over the lazy dog and runs far a\u00adway\n\n\tindented", "# Fox\n\nindented"},
		"c.html":   {"<p>" + run + " for a while.", ""},
		"d.txt":    {run, ""},
		"latin.md": {"Caf\xe9: " + run + ".", "Café: ."},
	} {
		s := &Screen{Benchmark: b, Action: Cut}
		for r, err := range (&corpus.Inputs{Paths: []string{write(name, c.content)}}).Records(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			text, err := r.Text(t.Context(), extract.Options{})
			if err != nil {
				t.Fatal(err)
			}
			verdict, err := s.Record(t.Context(), r, extract.Options{}, &text)
			if leaves := verdict == Verdict; err != nil || leaves != (c.want == "") || !leaves && string(r.Raw) != c.want {
				t.Errorf("%s: %q, %q, %v; want %q", name, r.Raw, verdict, err, c.want)
			}
		}
	}
}
