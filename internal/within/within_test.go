package within_test

import (
	"cmp"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"skink/dedup"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/internal/within"
)

// A record is a random record, and what is expected of it.
type record struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Private bool   `json:"private,omitempty"`

	num   int
	parts []*part
}

type part struct {
	of         *record
	start, end int // in bytes
	words      []string
	shingles   map[string]bool
	first      *record
	alike      float64
}

var files = ingest.FileOptions{Bad: func(bad *corpus.BadError) error { return bad }}

// options also have the function that finds the words of a text.
type options struct {
	within.Options
	wordsOf  func(text string) []string
	placesOf func(text string) [][]int // start and end of each word
}

// Parts of random corpora are compared with each other one by one: by maps of strings, and with other code
// to divide texts.
func TestBruteForce(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 45))
		opt := within.Options{
			Unit:   []within.Unit{within.Paragraph, within.Line, within.Sentence, within.Run}[seed%4],
			Rule:   dedup.Rule{Similarity: []float64{.3, .5, .8, 1}[r.IntN(4)], Shingling: dedup.Shingling{Unit: dedup.Words, K: 1 + r.IntN(4)}},
			Words:  1 + r.IntN(6),
			Left:   []float64{0, .2, .6}[r.IntN(3)],
			Memory: []int64{1, 64 << 20}[r.IntN(2)],
			Files:  files,
		}
		if opt.Unit == within.Run {
			opt.Words += r.IntN(12)
		}
		t.Run(fmt.Sprintf("%d %s", seed, opt.Unit), func(t *testing.T) {
			check(t, randomCorpus(r), options{opt,
				func(text string) []string { return word.FindAllString(strings.ToLower(text), -1) },
				func(text string) [][]int { return word.FindAllStringIndex(text, -1) }})
		})
	}
}

// The parts of 2,618 licences are compared in the same way. The texts are not part of the project, and without
// them the test is skipped.
func TestLicences(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG is not set")
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xf", "../../../shared/data/licences.tar.xz", "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "licences/text/*"))
	if err != nil || len(names) < 2000 {
		t.Fatal(err, len(names))
	}
	var canon dedup.Text
	words := func(text string) (all []string) {
		canon.Read([]byte(text))
		for i := range canon.Len() {
			all = append(all, canon.Token(i))
		}
		return all
	}
	places := func(text string) (all [][]int) {
		var located dedup.Text
		located.Locate()
		located.Read([]byte(text))
		for i := range located.Len() {
			all = append(all, []int{located.Span(i).Start, located.Span(i).End})
		}
		return all
	}
	units := []within.Unit{within.Paragraph, within.Run}
	if os.Getenv("SKINK_LONG") == "full" {
		units = append(units, within.Line)
	}
	for _, unit := range units {
		var records []*record
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, &record{ID: filepath.Base(name), Text: strings.ToValidUTF8(string(text), "?")})
		}
		opt := within.Options{Unit: unit, Rule: dedup.Rule{Similarity: .8, Shingling: dedup.Shingling{Unit: dedup.Words, K: 5}},
			Words: 10, Left: .2, Memory: 64 << 20, Files: files}
		if unit == within.Run && os.Getenv("SKINK_LONG") != "full" {
			records = records[:900]
		}
		check(t, records, options{opt, words, places})
	}
}

func randomCorpus(r *rand.Rand) (all []*record) {
	vocabulary := strings.Fields("mill fish bell fog boat wheel brook door 水 車 Ärger naïve")
	var pool []string // sentences, some of which differ in one word
	for range 12 {
		words := make([]string, 1+r.IntN(12))
		for i := range words {
			words[i] = vocabulary[r.IntN(len(vocabulary))]
		}
		pool = append(pool, strings.Join(words, " "))
		words[r.IntN(len(words))] = "other"
		pool = append(pool, strings.ToUpper(strings.Join(words, ", ")))
	}
	for n := range 40 {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(pool[r.IntN(len(pool))] + []string{". ", "! ", "水。", ".\n", "?\r\n", ".\n\n", ".\n \t\n\n", "\n"}[r.IntN(8)])
		}
		all = append(all, &record{ID: fmt.Sprint("id", n), Text: b.String(), Private: r.IntN(6) == 0})
	}
	return all
}

var (
	blank    = regexp.MustCompile(`\n\s*\n`)
	line     = regexp.MustCompile(`\n`)
	sentence = regexp.MustCompile(`[.!?。]\s*`)
	word     = regexp.MustCompile(`\p{Han}|[\p{Latin}]+`)
)

// cut cuts a text after each match of a separator and the white space that follows.
func cut(text string, at *regexp.Regexp) (all []string) {
	start := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		end := len(text) - len(strings.TrimLeftFunc(text[m[1]:], unicode.IsSpace))
		if at != sentence {
			end = max(m[0], strings.LastIndexByte(text[:end], '\n')) + 1 // the indentation belongs to the line
		}
		if strings.TrimSpace(text[start:max(start, m[0])]) != "" && end < len(text) && end > start {
			all, start = append(all, text[start:end]), end
		}
	}
	return append(all, text[start:])
}

func divide(rec *record, opt options) (all []*part) {
	text := rec.Text
	pieces := cut(text, blank)
	if opt.Unit == within.Line || len(pieces) == 1 {
		pieces = cut(text, line)
	}
	if opt.Unit == within.Sentence {
		var sentences []string
		for _, p := range pieces {
			sentences = append(sentences, cut(p, sentence)...)
		}
		pieces = sentences
	}
	start := 0
	for _, piece := range pieces {
		p := &part{of: rec, start: start, end: start + len(piece), words: opt.wordsOf(piece), shingles: map[string]bool{}}
		k := min(opt.Rule.Shingling.K, len(p.words))
		for i := range len(p.words) - k + 1 {
			p.shingles[strings.Join(p.words[i:i+k], " ")] = true
		}
		all, start = append(all, p), p.end
	}
	return all
}

func resemblance(a, b *part) float64 {
	both := 0
	for s := range a.shingles {
		if b.shingles[s] {
			both++
		}
	}
	return float64(both) / float64(len(a.shingles)+len(b.shingles)-both)
}

// findAll sets what is removed of each part. Parts that share no shingle are not compared.
func findAll(records []*record, opt options) {
	if opt.Unit == within.Run {
		findRuns(records, opt)
		return
	}
	having := map[string][]*part{} // earlier parts by shingle
	for _, rec := range records {
		rec.parts = divide(rec, opt)
		for _, p := range rec.parts {
			if len(p.words) < opt.Words {
				continue
			}
			before := map[*part]bool{}
			for s := range p.shingles {
				for _, q := range having[s] {
					before[q] = !q.of.Private || rec.Private
				}
			}
			var exact, near *part
			for q, may := range before {
				switch {
				case !may:
				case slices.Equal(p.words, q.words):
					exact = earlier(exact, q)
				case q.first == nil && resemblance(p, q) >= opt.Rule.Similarity:
					near = earlier(near, q)
				}
			}
			if exact != nil {
				p.first, p.alike = exact.of, 1
			} else if near != nil {
				p.first, p.alike = near.of, resemblance(p, near)
			}
			for s := range p.shingles {
				having[s] = append(having[s], p)
			}
		}
	}
}

// earlier returns the part that comes first. a may be nil.
func earlier(a, b *part) *part {
	if a == nil || cmp.Or(cmp.Compare(b.of.num, a.of.num), cmp.Compare(b.start, a.start)) < 0 {
		return b
	}
	return a
}

// A result is what is written of a record.
type result struct {
	ID, Text, Verdict string
	Kept              bool
	Removed           []corpus.Part
}

func expected(rec *record, opt options) result {
	want := result{ID: rec.ID, Verdict: "unique", Kept: true}
	all, left := 0, 0
	for _, p := range rec.parts {
		all += len(p.words)
		if p.first == nil {
			want.Text += rec.Text[p.start:p.end]
			left += len(p.words)
			continue
		}
		chars := func(at int) int { return len([]rune(rec.Text[:at])) }
		want.Removed = append(want.Removed, corpus.Part{Start: chars(p.start), End: chars(p.end), First: p.first.ID, Resemblance: p.alike})
		want.Verdict = "cut"
	}
	switch {
	case all == 0:
		want.Verdict = ""
	case left == 0, float64(left) < opt.Left*float64(all):
		want.Verdict, want.Kept, want.Text = "dropped", false, rec.Text
	}
	return want
}

func check(t *testing.T, records []*record, opt options) {
	dir := t.TempDir()
	for i, rec := range records {
		rec.num = i
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i*3/len(records))), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err == nil {
			err = cmp.Or(json.NewEncoder(f).Encode(rec), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	findAll(records, opt)
	in := &corpus.Inputs{Paths: []string{dir}, Unreadable: func(err error) { t.Error(err) }}
	cuts, err := within.Find(t.Context(), in, opt.Options)
	if err != nil {
		t.Fatal(err)
	}
	n, removed := 0, 0
	err = cuts.Write(t.Context(), func(r *corpus.Record, note corpus.Note, kept bool) error {
		var rec record
		if err := json.Unmarshal(r.Raw, &rec); err != nil {
			t.Fatal(err)
		}
		want, got := expected(records[n], opt), result{rec.ID, rec.Text, note.Verdict, kept, note.Removed}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %d words, similarity %v, %+v\n%q:\ngot  %+v\nwant %+v", opt.Unit, opt.Words, opt.Rule.Similarity, opt.Rule.Shingling, records[n].Text, got, want)
		}
		n, removed = n+1, removed+len(want.Removed)
		return nil
	})
	if err := cmp.Or(err, cuts.Close()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", cuts.Tally)
	counted := cuts.Tally.Exact.Parts + cuts.Tally.Near.Parts
	if opt.Unit == within.Run && removed > counted*9/10 {
		removed = counted // runs within a word are counted, but not removed
	}
	if n != len(records) || removed != counted || removed == 0 {
		t.Errorf("%d records of %d; %d parts removed, counted %+v", n, len(records), removed, cuts.Tally)
	}
}

// findRuns looks for each window of each text among all earlier ones.
func findRuns(records []*record, opt options) {
	type place struct {
		of *record
		at int
	}
	windows := map[[md5.Size]byte][]place{}
	for _, rec := range records {
		words, places := opt.wordsOf(rec.Text), opt.placesOf(rec.Text)
		from := make([]*place, len(words)) // where each word was first, if it is in a copy
		var last *place                    // of the window before, if that is a copy
		for i := 0; i+opt.Words <= len(words); i++ {
			window := md5.Sum([]byte(strings.Join(words[i:i+opt.Words], " ")))
			var first *place
			if n := slices.IndexFunc(windows[window], func(p place) bool { return !p.of.Private || rec.Private }); n >= 0 {
				first = &windows[window][n]
			}
			windows[window] = append(windows[window], place{rec, i})
			if first == nil || first.of == rec && first.at+opt.Words > i {
				last = nil
				continue
			}
			run := &place{first.of, first.at - i} // the same for all windows of a run
			if last != nil && *last == *run {
				run = last
			}
			for k := i; k < i+opt.Words; k++ {
				if from[k] == nil {
					from[k] = run
				}
			}
			last = run
		}
		inWord := func(i, next int) bool { // the token next is in the word of i, but not in its run
			return next >= 0 && next < len(words) && slices.Equal(places[i], places[next]) && from[i] != from[next]
		}
		for i := range words {
			if inWord(i, i-1) {
				from[i] = nil
			}
		}
		for i := len(words) - 1; i >= 0; i-- {
			if inWord(i, i+1) {
				from[i] = nil
			}
		}
		rec.parts = nil
		start := 0
		for i := range words {
			end := len(rec.Text)
			if i+1 < len(words) {
				end = places[i+1][0]
			}
			switch p := (&part{of: rec, start: start, end: end, words: words[i : i+1]}); {
			case i > 0 && from[i] == from[i-1]:
				p = rec.parts[len(rec.parts)-1]
				p.end, p.words = end, append(p.words, words[i])
			case from[i] != nil:
				if i == 0 && places[0][0] > 0 {
					rec.parts, p.start = append(rec.parts, &part{of: rec, end: places[0][0]}), places[0][0]
				}
				p.first, p.alike = from[i].of, 1
				fallthrough
			default:
				rec.parts = append(rec.parts, p)
			}
			start = end
		}
		if len(words) == 0 {
			rec.parts = []*part{{of: rec, end: len(rec.Text)}}
		}
	}
}

// TestRunInWord has a text in a script without spaces, where a word has many tokens. Only whole words are cut.
func TestRunInWord(t *testing.T) {
	dir := t.TempDir()
	lines := `{"id":1,"text":"x アイウエオ カキクケコ y"}
{"id":2,"text":"(z) ンイウエオ カキクケコ, サ"}
`
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	in := &corpus.Inputs{Paths: []string{dir}, Unreadable: func(err error) { t.Error(err) }}
	cuts, err := within.Find(t.Context(), in, within.Options{Unit: within.Run, Words: 5, Memory: 1 << 20, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	var left strings.Builder
	err = cuts.Write(t.Context(), func(r *corpus.Record, _ corpus.Note, _ bool) error {
		_, err := fmt.Fprintf(&left, "%s\n", r.Raw)
		return err
	})
	want := strings.Replace(lines, "カキクケコ, ", "", 1)
	if err := cmp.Or(err, cuts.Close()); err != nil || left.String() != want {
		t.Errorf("%v; got\n%swant\n%s", err, &left, want)
	}
}
