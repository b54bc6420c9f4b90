package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/dedup/rivals"
	"skink/report"
)

var tuneCommand = command{
	name:  "tune",
	args:  "[flags] PAIRS",
	short: "find the best settings for labeled pairs",
	setup: setupTune,
}

type tuneFlags struct {
	forms        *list
	units        []dedup.Unit
	shingles     []int // empty means triedShingles
	measures     *list
	similarities []float64 // in ascending order
	json         bool
	quiet        bool
}

// triedForms, triedMeasures and triedShingles are the forms, the measures and the shingle lengths that skink tune tries by default.
// A word has five or six characters, so the lengths in characters cover about the same range as
// those in words.
var (
	triedForms    = []string{"plain", "nofunction", "stem", "nofunction,stem"}
	triedMeasures = []string{"resemblance", "estimate", "containment", "containment-lesser", "super", "mega"}
	triedShingles = map[dedup.Unit][]int{
		dedup.Words: {1, 2, 3, 4, 5, 6, 8, 10, 12},
		dedup.Chars: {4, 6, 9, 13, 20, 30, 50},
	}
)

func setupTune(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &tuneFlags{
		forms:    &list{kind: "stringArray", words: triedForms, add: checkForm},
		units:    []dedup.Unit{dedup.Words, dedup.Chars},
		measures: &list{kind: "stringSlice", words: triedMeasures, commas: true, add: checkMeasure},
	}
	flags.Var(f.forms, "form", "`FORM` try only this form, as in skink crawl --form (repeatable)")
	flags.Var(several(&f.units, f.units), "unit", "`word|char` try only shingles that consist of words (word) or of characters (char) (repeatable)")
	flags.Var(&list{kind: "N", commas: true, add: f.addShingle}, "shingle", "try only shingles of these lengths, separated by commas (default: 1 to 12 words, 4 to 50 characters)")
	flags.Var(f.measures, "measure", "`MEASURE` try only this measure of similarity (repeatable)")
	flags.BoolVar(&f.json, "json", false, "print the result as a JSON object")
	flags.Var(&list{kind: "NUMBER", commas: true, add: f.addSimilarity}, "similarity", "try only these similarities (default: 0.05 to 1 in steps of 0.01)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
	return f.run
}

// measures are the similarity scores that skink tune tries, each from 0 to 1. A score such as
// containment has two directions: A in B, and B in A. The plain name means the larger value, which
// is high for an excerpt, and "lesser" the smaller one.
var measures = map[string]func(dedup.Comparison) float64{
	"resemblance":        func(c dedup.Comparison) float64 { return c.Resemblance },
	"estimate":           func(c dedup.Comparison) float64 { return c.Estimate },
	"containment":        func(c dedup.Comparison) float64 { return max(c.AInB, c.BInA) },
	"containment-lesser": func(c dedup.Comparison) float64 { return min(c.AInB, c.BInA) },
	"super":              func(c dedup.Comparison) float64 { return float64(c.Super) / dedup.SuperShingles },
	"mega":               func(c dedup.Comparison) float64 { return float64(c.Mega) / dedup.MegaShingles },
}

func (f *tuneFlags) run(ctx context.Context, con Console, args []string) error {
	if err := standsAlone(con, args); err != nil {
		return err
	}
	if len(f.similarities) == 0 {
		f.similarities = dedup.Thresholds()
	}
	var result *tuning
	var p tuneProgress
	tune := func() (err error) {
		result, err = f.tune(ctx, con, args[0], &p)
		return err
	}
	if err := showWhile(con, f.quiet, p.line, tune); err != nil {
		return err
	}
	if f.json {
		return report.WriteJSON(con.Out, result)
	}
	return result.print(con.Out)
}

func (f *tuneFlags) tune(ctx context.Context, con Console, name string, p *tuneProgress) (*tuning, error) {
	pairs, err := await(ctx, func() ([]labelledPair, error) { return readLabelled(con, name, func() { p.read.Add(1) }) })
	if err != nil {
		return nil, err
	}
	ways := f.ways()
	scores, err := f.score(ctx, pairs, ways, func() { p.compared.Add(1) })
	if err != nil {
		return nil, err
	}
	result := &tuning{Pairs: len(pairs), Tried: dedup.Tune(ways, scores, f.similarities)}
	for _, p := range pairs {
		if p.Duplicate {
			result.Duplicates++
		}
	}
	best := result.recommended()
	of := scores[slices.Index(ways, best.Way)]
	result.Recommendation = recommendation{best.Way, best.Choice, best.Quality, dedup.Bootstrap(of, pagesOf(pairs), f.similarities)}
	return result, ctx.Err()
}

type tuneProgress struct{ read, compared atomic.Int64 } // numbers of pairs

func (p *tuneProgress) line() string {
	return fmt.Sprintf("%s of %s compared", report.Grouped(p.compared.Load()), report.Counted(p.read.Load(), "pair"))
}

func checkForm(name string) error {
	_, err := dedup.ParseForm(name)
	return err
}

func checkMeasure(name string) error {
	if measures[name] == nil && rivals.Measures[name] == nil {
		others := slices.Sorted(maps.Keys(rivals.Measures))
		return errors.New("must be one of " + strings.Join(slices.Concat(triedMeasures, others), ", "))
	}
	return nil
}

func (f *tuneFlags) addShingle(text string) error {
	k, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("must be whole numbers, such as 3 or 3,5,8")
	}
	f.shingles = append(f.shingles, k)
	return dedup.Shingling{Unit: dedup.Words, K: k}.Check()
}

func (f *tuneFlags) addSimilarity(text string) error {
	var v float64
	if err := similarity(&v).Set(text); err != nil {
		return err
	}
	f.similarities = append(f.similarities, v)
	slices.Sort(f.similarities)
	f.similarities = slices.Compact(f.similarities)
	return nil
}

func (f *tuneFlags) ways() (ways []dedup.Way) {
	for _, form := range f.forms.words {
		for _, s := range f.shinglings() {
			for _, m := range f.measures.words {
				ways = append(ways, dedup.Way{Form: form, Unit: s.Unit, Shingle: s.K, Measure: m})
			}
		}
	}
	return ways
}

func (f *tuneFlags) shinglings() (all []dedup.Shingling) {
	for _, unit := range f.units {
		lengths := f.shingles
		if len(lengths) == 0 {
			lengths = triedShingles[unit]
		}
		for _, k := range lengths {
			all = append(all, dedup.Shingling{Unit: unit, K: k})
		}
	}
	return all
}

// score computes the score of each pair for each of the ways, and calls compared after each pair.
// It works on as many pairs at once as there are processors.
func (f *tuneFlags) score(ctx context.Context, pairs []labelledPair, ways []dedup.Way, compared func()) ([][]dedup.Scored, error) {
	scores := make([][]dedup.Scored, len(ways))
	for i := range scores {
		scores[i] = make([]dedup.Scored, len(pairs))
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range pairs {
		workers.Go(func() error {
			way := 0
			for _, c := range f.compare(ctx, p) {
				for _, name := range f.measures.words {
					scores[way][i] = dedup.Scored{Score: c.score(name), Duplicate: p.Duplicate}
					way++
				}
			}
			compared()
			return ctx.Err()
		})
	}
	return scores, workers.Wait()
}

// A compared is the result of comparing two texts with one form and shingling.
type compared struct {
	dedup.Comparison
	rivals map[string]float64 // scores of the measures of package rivals that are tried
}

func (c compared) score(name string) float64 {
	if measure := measures[name]; measure != nil {
		return measure(c.Comparison)
	}
	return c.rivals[name]
}

// compare compares the two texts of a pair for each form and shingling. The results are grouped by
// form. It returns nil if ctx ends.
func (f *tuneFlags) compare(ctx context.Context, p labelledPair) (all []compared) {
	var a, b dedup.Text
	for _, name := range f.forms.words {
		form, _ := dedup.ParseForm(name) // the caller has checked the name
		a.ReadForm([]byte(p.A.Text), form, p.A.Lang)
		b.ReadForm([]byte(p.B.Text), form, p.B.Lang)
		for _, s := range f.shinglings() {
			if ctx.Err() != nil {
				return nil
			}
			c := compared{dedup.Compare(&a, &b, s), map[string]float64{}}
			for name, measure := range rivals.Measures {
				if slices.Contains(f.measures.words, name) {
					c.rivals[name] = measure(s.Append(nil, &a), s.Append(nil, &b))
				}
			}
			all = append(all, c)
		}
	}
	return all
}
