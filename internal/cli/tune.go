package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/extract"
	"skink/internal/corpus"
	"skink/report"
)

var tuneCommand = command{
	name:  "tune",
	args:  "[flags] PAIRS",
	short: "find the best settings for labelled pairs",
	long: `
Reads labelled pairs, one JSON object per line: {"a_path" or "a_text", "b_path" or "b_text",
"duplicate": true or false}, with paths relative to the file. It tries every combination of
form, unit, shingle length, measure and threshold, and recommends one by ten-fold
cross-validation. The measure containment is the share of one text that the other contains,
in the direction with the greater share; containment-lesser takes the smaller share. The
measures super and mega are the shares of equal super-shingles and mega-shingles. Instead,
--curve prints how likely each scheme is to find two pages of a given resemblance.

This command prints the curves of all schemes, with the bands for a similarity of 0.9:

  skink tune --curve --similarity 0.9`,
	setup: setupTune,
}

// tuneFlags are the flags of skink tune.
type tuneFlags struct {
	flags      *pflag.FlagSet
	forms      []string
	units      []string
	shingles   []int
	measures   []string
	all        bool
	json       bool
	curve      bool
	similarity float64
}

// triedForms and triedShingles are the forms and the shingle lengths that skink tune tries by
// default. A word has five or six characters, so the lengths in characters cover about the same
// range as those in words.
var (
	triedForms    = []string{"plain", "nofunction", "noadjectives", "singular", "stem", "nofunction,stem"}
	triedShingles = map[dedup.Unit][]int{
		dedup.Words: {1, 2, 3, 4, 5, 6, 8, 10, 12},
		dedup.Chars: {4, 6, 9, 13, 20, 30, 50},
	}
)

func setupTune(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &tuneFlags{flags: flags, similarity: dedup.DefaultSimilarity}
	flags.StringArrayVar(&f.forms, "form", triedForms, "`FORM` try only this --form of skink crawl (repeatable)")
	flags.StringSliceVar(&f.units, "unit", []string{string(dedup.Words), string(dedup.Chars)}, "`word|char` try only shingles of this unit (repeatable)")
	flags.IntSliceVar(&f.shingles, "shingle", nil, "try only shingles of these lengths, separated by commas (default: 1 to 12 words, 4 to 50 characters)")
	flags.StringSliceVar(&f.measures, "measure", measureNames(), "`MEASURE` try only this measure of similarity (repeatable)")
	flags.BoolVar(&f.all, "all", false, "print all combinations with all thresholds, not only the best combinations")
	flags.BoolVar(&f.json, "json", false, "print the result as a JSON object")
	flags.BoolVar(&f.curve, "curve", false, "instead of reading pairs, print how likely each --scheme is to find a pair of pages of a given resemblance")
	flags.Var(similarity(&f.similarity), "similarity", "with --curve: print the curve of the bands that a crawl with this --similarity uses")
	return f.run
}

// measures are the similarity scores that skink tune tries, each from 0 to 1. A score such as
// containment has two directions: of A in B, and of B in A. The plain name stands for the larger
// value, which is high for an excerpt, and "lesser" for the smaller one. Uniqueness is not tried,
// because it is 1 minus the resemblance, and so gives the same decisions.
var measures = []struct {
	name  string
	score func(dedup.Comparison) float64
}{
	{"resemblance", func(c dedup.Comparison) float64 { return c.Resemblance }},
	{"estimate", func(c dedup.Comparison) float64 { return c.Estimate }},
	{"containment", func(c dedup.Comparison) float64 { return max(c.AInB, c.BInA) }},
	{"containment-lesser", func(c dedup.Comparison) float64 { return min(c.AInB, c.BInA) }},
	{"share", func(c dedup.Comparison) float64 { return max(c.ShareA, c.ShareB) }},
	{"dice", func(c dedup.Comparison) float64 { return c.Dice }},
	{"super", func(c dedup.Comparison) float64 { return float64(c.Super) / dedup.SuperShingles }},
	{"mega", func(c dedup.Comparison) float64 { return float64(c.Mega) / dedup.MegaShingles }},
}

func measureNames() (names []string) {
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

func (f *tuneFlags) run(ctx context.Context, con Console, args []string) error {
	if f.curve {
		if len(args) > 0 {
			return usagef("tune: --curve needs no pairs")
		}
		return f.printCurve(con.Out)
	}
	if f.flags.Changed("similarity") {
		return usagef("tune: --similarity needs --curve: give both")
	}
	if len(args) != 1 {
		return usagef("tune needs one file of labelled pairs, got %d: try skink tune --help", len(args))
	}
	if err := f.check(); err != nil {
		return err
	}
	pairs, err := await(ctx, func() ([]labelledPair, error) { return readLabelled(con, args[0]) })
	if err != nil {
		return err
	}
	ways := f.ways()
	scores, err := f.score(ctx, pairs, ways)
	if err != nil {
		return err
	}
	result := tuning{Pairs: len(pairs), Tried: dedup.Tune(ways, scores), NotKnown: f.notKnown(pairs)}
	for _, p := range pairs {
		if p.Duplicate {
			result.Duplicates++
		}
	}
	if f.all {
		result.Combinations = dedup.Combinations(ways, scores)
	}
	result.Recommendation = result.Tried[0]
	if f.json {
		return writeJSON(con.Out, result)
	}
	return result.print(con.Out)
}

func (f *tuneFlags) check() error {
	for _, form := range f.forms {
		if _, err := dedup.ParseForm(form); err != nil {
			return usagef("--form: %w", err)
		}
	}
	for _, k := range f.shingles {
		if err := (dedup.Shingling{Unit: dedup.Words, K: k}).Check(); err != nil {
			return usagef("--shingle %d: %w", k, err)
		}
	}
	for _, u := range f.units {
		if triedShingles[dedup.Unit(u)] == nil {
			return usagef("--unit %q: must be word or char", u)
		}
	}
	for _, m := range f.measures {
		if !slices.Contains(measureNames(), m) {
			return usagef("--measure %q: must be one of %s", m, strings.Join(measureNames(), ", "))
		}
	}
	if len(f.ways()) == 0 {
		return usagef("tune: nothing to try: name a --form, a --unit, a --shingle and a --measure")
	}
	return nil
}

// A labelled is a line of the input file in JSON: two pages, each as a path or a text, and whether
// they are duplicates.
type labelled struct {
	APath     *string `json:"a_path"`
	AText     *string `json:"a_text"`
	BPath     *string `json:"b_path"`
	BText     *string `json:"b_text"`
	Duplicate *bool   `json:"duplicate"`
}

// A labelledPair is two pages with their texts, and whether a person labelled them as duplicates.
type labelledPair struct {
	A, B      *extract.Document
	Duplicate bool
}

func readLabelled(con Console, name string) ([]labelledPair, error) {
	in, dir := con.In, "."
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("tune: %w", plainError(name, err))
		}
		defer f.Close()
		in, dir = f, filepath.Dir(name)
	}
	var pairs []labelledPair
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		p, err := readPair(con, lines.Bytes(), dir)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		pairs = append(pairs, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(pairs) < 10 {
		return nil, fmt.Errorf("%s: %d labelled pairs are too few: use at least 10, better hundreds", name, len(pairs))
	}
	return pairs, nil
}

func readPair(con Console, raw []byte, dir string) (p labelledPair, err error) {
	var l labelled
	if json.Unmarshal(raw, &l) != nil || l.Duplicate == nil {
		return p, errors.New(`no labelled pair: try {"a_text":"…","b_text":"…","duplicate":true}, or a_path and b_path`)
	}
	p.Duplicate = *l.Duplicate
	if p.A, err = readSide(con, "a", l.APath, l.AText, dir); err != nil {
		return p, err
	}
	p.B, err = readSide(con, "b", l.BPath, l.BText, dir)
	return p, err
}

func readSide(con Console, side string, path, text *string, dir string) (*extract.Document, error) {
	switch {
	case path != nil && text == nil:
		name := *path
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		body, err := readInput(con, name)
		if err != nil {
			return nil, err
		}
		return pageOf(context.Background(), nil, extract.Options{}, name, body, corpus.TypeOf(name))
	case text != nil && path == nil:
		return extract.Parse([]byte(*text), "text/plain; charset=utf-8")
	}
	return nil, fmt.Errorf(`give either "%s_path" or "%s_text"`, side, side)
}

// ways returns all combinations of a form, a shingling and a measure that the flags ask for.
func (f *tuneFlags) ways() (ways []dedup.Way) {
	for _, form := range f.forms {
		for _, s := range f.shinglings() {
			for _, m := range f.measures {
				ways = append(ways, dedup.Way{Form: form, Unit: s.Unit, Shingle: s.K, Measure: m})
			}
		}
	}
	return ways
}

func (f *tuneFlags) shinglings() (all []dedup.Shingling) {
	for _, unit := range f.units {
		lengths := f.shingles
		if !f.flags.Changed("shingle") {
			lengths = triedShingles[dedup.Unit(unit)]
		}
		for _, k := range lengths {
			all = append(all, dedup.Shingling{Unit: dedup.Unit(unit), K: k})
		}
	}
	return all
}

// score computes the score of each pair by each of ways. It works on as many pairs at once as there
// are processors.
func (f *tuneFlags) score(ctx context.Context, pairs []labelledPair, ways []dedup.Way) ([][]dedup.Scored, error) {
	bands, err := dedup.BandsFor(dedup.DefaultSimilarity)
	if err != nil {
		return nil, err
	}
	scores := make([][]dedup.Scored, len(ways))
	for i := range scores {
		scores[i] = make([]dedup.Scored, len(pairs))
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range pairs {
		workers.Go(func() error {
			way := 0
			for _, c := range f.compare(ctx, p, bands) {
				for _, name := range f.measures {
					scores[way][i] = dedup.Scored{Score: measured(c, name), Duplicate: p.Duplicate}
					way++
				}
			}
			return ctx.Err()
		})
	}
	return scores, workers.Wait()
}

// compare compares the two texts of a pair once for each form and shingling, forms in the outer
// loop. It returns nil if ctx ends.
func (f *tuneFlags) compare(ctx context.Context, p labelledPair, bands dedup.Scheme) (all []dedup.Comparison) {
	var a, b dedup.Text
	for _, name := range f.forms {
		form, _ := dedup.ParseForm(name) // checked
		a.ReadForm([]byte(p.A.Text), form, p.A.Lang)
		b.ReadForm([]byte(p.B.Text), form, p.B.Lang)
		for _, s := range f.shinglings() {
			if ctx.Err() != nil {
				return nil
			}
			all = append(all, dedup.Compare(&a, &b, s, bands))
		}
	}
	return all
}

func measured(c dedup.Comparison, name string) float64 {
	for _, m := range measures {
		if m.name == name {
			return m.score(c)
		}
	}
	panic("no measure is called " + name) // the names were checked before
}

// notKnown returns the number of pairs, by the name of a form, in which the language of a text has
// no rules for a part of that form. The form leaves the words of such a text unchanged.
func (f *tuneFlags) notKnown(pairs []labelledPair) map[string]int {
	missing := map[string]int{}
	for _, name := range f.forms {
		form, _ := dedup.ParseForm(name) // checked
		for _, p := range pairs {
			if form.Without(p.A.Lang)|form.Without(p.B.Lang) != dedup.Plain {
				missing[name]++
			}
		}
	}
	return missing
}

// A tuning is the output of skink tune. The names in JSON are stable.
type tuning struct {
	Pairs          int                 `json:"pairs"`
	Duplicates     int                 `json:"duplicates"`
	Recommendation dedup.Tuned         `json:"recommendation"`
	Tried          []dedup.Tuned       `json:"tried"` // all combinations with their best thresholds, the best combination first
	Combinations   []dedup.Combination `json:"combinations,omitempty"`
	NotKnown       map[string]int      `json:"form_without_rules,omitempty"` // number of pairs by form, see notKnown
}

// shownWays is how many combinations the text output shows without --all.
const shownWays = 20

func (t *tuning) print(w io.Writer) error {
	r := t.Recommendation
	fmt.Fprintf(w, "%s, %s of them duplicates\n", report.Counted(t.Pairs, "pair"), report.Grouped(t.Duplicates))
	fmt.Fprintf(w, "recommended: --form %s --unit %s --shingle %d, duplicates from a %s of %.2f: F1 %.3f (95 %%: %.3f to %.3f), cross-validated\n",
		r.Form, r.Unit, r.Shingle, r.Measure, r.Threshold, r.CrossValidated.F1, r.CrossValidated.F1I[0], r.CrossValidated.F1I[1])
	for _, form := range slices.Sorted(maps.Keys(t.NotKnown)) {
		fmt.Fprintf(w, "form %s: %s in a language for which the form has no complete rules\n", form, report.Counted(t.NotKnown[form], "pair"))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nform\tunit\tshingle\tmeasure\tthreshold\tprecision\trecall\tF1\tcross-validated: precision\trecall\tF1")
	for i, c := range t.Tried {
		if i == shownWays && t.Combinations == nil {
			break
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%.2f\t%s\t%s\n", c.Form, c.Unit, c.Shingle, c.Measure, c.Threshold, columns(c.Quality), columns(c.CrossValidated))
	}
	for i, c := range t.Combinations {
		if i == 0 {
			fmt.Fprintln(table, "\nform\tunit\tshingle\tmeasure\tthreshold\tprecision\trecall\tF1")
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%.2f\t%s\n", c.Form, c.Unit, c.Shingle, c.Measure, c.Threshold, columns(c.Quality))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if n := len(t.Tried) - shownWays; n > 0 && t.Combinations == nil {
		fmt.Fprintf(w, "and %d more combinations: --all prints them, with every threshold\n", n)
	}
	return nil
}

// columns returns the table columns of a quality: precision, recall and F1, each followed by its 95
// % confidence interval.
func columns(q dedup.Quality) string {
	return fmt.Sprintf("%.3f (%.3f–%.3f)\t%.3f (%.3f–%.3f)\t%.3f (%.3f–%.3f)", q.Precision, q.PrecisionI[0], q.PrecisionI[1],
		q.Recall, q.RecallI[0], q.RecallI[1], q.F1, q.F1I[0], q.F1I[1])
}

// A point is a point of the curves of --curve: the probability that each scheme finds two pages with a
// given resemblance.
type point struct {
	Resemblance float64            `json:"resemblance"`
	Found       map[string]float64 `json:"found"` // probability from 0 to 1, by the scheme's name
}

// printCurve prints a table that shows, for each resemblance of two pages, the probability that
// each scheme finds the pages as candidates for duplicates.
func (f *tuneFlags) printCurve(w io.Writer) error {
	var schemes []dedup.Scheme
	for _, name := range []string{"bands", "super", "mega"} {
		s, err := dedup.ParseScheme(name, f.similarity)
		if err != nil {
			return usageError{Err: err}
		}
		schemes = append(schemes, s)
	}
	var points []point
	for i := 0; i <= 20; i++ {
		p := point{float64(i) / 20, map[string]float64{}}
		for _, s := range schemes {
			p.Found[s.Name] = s.Probability(p.Resemblance)
		}
		points = append(points, p)
	}
	if f.json {
		return writeJSON(w, points)
	}
	for _, s := range schemes {
		fmt.Fprintln(w, s)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nresemblance\tbands\tsuper\tmega\t")
	for _, p := range points {
		bar := strings.Repeat("█", int(40*p.Found["bands"]+.5))
		fmt.Fprintf(table, "%.2f\t%.4f\t%.4f\t%.4f\t%s\n", p.Resemblance, p.Found["bands"], p.Found["super"], p.Found["mega"], bar)
	}
	return table.Flush()
}
