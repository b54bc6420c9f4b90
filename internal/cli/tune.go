package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/report"
)

var tuneCommand = command{
	name:  "tune",
	args:  "[flags] [PAIRS]",
	short: "find the best settings for labeled pairs",
	long: `
Reads labeled pairs, one JSON object per line: {"a_path" or "a_text", "b_path" or "b_text",
"duplicate": true or false}, with paths relative to the file. It tries every combination of
form, unit, shingle length, measure and similarity, and recommends flags for skink crawl and
skink dedup by ten-fold cross-validation. With --curve, it instead prints how likely each
scheme is to find a pair of pages, depending on their resemblance.

This command prints the curves of all schemes, with the bands for a similarity of 0.9:

  skink tune --curve --similarity 0.9`,
	more: `
If neighboring similarities are equally good, skink tune recommends the middle of them. The
confidence intervals come from a bootstrap, which resamples pages if some pages are in
several pairs. The same pairs always give the same result.

The measure containment is the share of one text that the other contains, in the direction
with the greater share; containment-lesser uses the smaller share. The measures super and
mega are the shares of equal super-shingles and mega-shingles.`,
	setup: setupTune,
}

type tuneFlags struct {
	flags        *pflag.FlagSet
	forms        []string
	units        []string
	shingles     []int
	measures     []string
	similarities similarities
	all          bool
	json         bool
	svg          string // file for the curve; "" means none
	curve        bool
	quiet        bool
}

// triedForms and triedShingles are the forms and shingle lengths that skink tune tries by default.
// A word has five or six characters, so the lengths in characters cover about the same range as
// those in words.
var (
	triedForms    = []string{"plain", "nofunction", "noadjectives", "singular", "stem", "nofunction,stem"}
	triedShingles = map[dedup.Unit][]int{
		dedup.Words: {1, 2, 3, 4, 5, 6, 8, 10, 12},
		dedup.Chars: {4, 6, 9, 13, 20, 30, 50},
	}
)

func setupTune(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &tuneFlags{flags: flags, similarities: similarities{values: dedup.Thresholds()}}
	flags.StringArrayVar(&f.forms, "form", triedForms, "`FORM` try only this form, as in skink crawl --form (repeatable)")
	flags.StringSliceVar(&f.units, "unit", []string{string(dedup.Words), string(dedup.Chars)}, "`word|char` try only shingles that consist of words (word) or of characters (char) (repeatable)")
	flags.IntSliceVar(&f.shingles, "shingle", nil, "try only shingles of these lengths, separated by commas (default: 1 to 12 words, 4 to 50 characters)")
	flags.StringSliceVar(&f.measures, "measure", measureNames(), "`MEASURE` try only this measure of similarity (repeatable)")
	flags.BoolVar(&f.all, "all", false, "print the results of all combinations of settings, not only the best ones")
	flags.BoolVar(&f.json, "json", false, "print the result as a JSON object")
	flags.BoolVar(&f.curve, "curve", false, "instead of reading pairs, print the probability that each scheme (crawl --scheme) finds a pair of pages, for each resemblance")
	flags.Var(&f.similarities, "similarity", "try only these similarities (default: 0.05 to 1 in steps of 0.01); with --curve: draw the curves for this similarity (default: 0.8)")
	flags.StringVar(&f.svg, "svg", "", "`FILE` write an SVG chart to this file: precision, recall and F1 for each similarity, or with --curve, the printed curves")
	isOutput(flags, "svg", fileOutput, "")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
	return f.run
}

// measures are the similarity scores that skink tune tries, each from 0 to 1. A score such as
// containment has two directions: A in B, and B in A. The plain name means the larger value, which
// is high for an excerpt, and "lesser" the smaller one. Uniqueness is not tried, because it is 1
// minus the resemblance, and so gives the same decisions.
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
	switch {
	case f.curve && len(args) > 0:
		return usagef("tune: --curve does not take a file of pairs")
	case f.curve && f.flags.Changed("similarity") && len(f.similarities.values) != 1:
		return usagef("tune: --curve takes one --similarity, got %d", len(f.similarities.values))
	case !f.curve && len(args) == 0:
		return usagef("tune needs a file of labeled pairs: try skink tune --help")
	}
	if err := standsAlone(con, args); err != nil {
		return err
	}
	if f.curve {
		return f.runCurve(ctx, con)
	}
	if err := f.check(); err != nil {
		return err
	}
	var result *tuning
	var p tuneProgress
	tune := func() (err error) {
		result, err = f.tune(ctx, con, args[0], &p)
		return err
	}
	if f.quiet {
		con.Terminal = false
	}
	if err := showWhile(con, p.line, tune); err != nil {
		return err
	}
	if to := con.files.Of("--svg"); to != nil {
		if err := to.Write(ctx, result.chart().WriteSVG); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(con.Out, result)
	}
	return result.print(con.Out)
}

func (f *tuneFlags) tune(ctx context.Context, con Console, name string, p *tuneProgress) (*tuning, error) {
	pairs, err := await(ctx, func() ([]labelledPair, error) { return readLabelled(con, name, func() { p.read.Add(1) }) })
	if err != nil {
		return nil, err
	}
	p.compare(time.Now())
	ways := f.ways()
	scores, err := f.score(ctx, pairs, ways, func() { p.compared.Add(1) })
	if err != nil {
		return nil, err
	}
	result := &tuning{Pairs: len(pairs), Tried: dedup.Tune(ways, scores, f.similarities.values), NotKnown: f.notKnown(pairs)}
	for _, p := range pairs {
		if p.Duplicate {
			result.Duplicates++
		}
	}
	if f.all {
		result.Combinations = dedup.Combinations(ways, scores, f.similarities.values)
	}
	best := result.recommended()
	of := scores[slices.Index(ways, best.Way)]
	result.Recommendation = recommendation{best.Way, best.Choice, best.Quality, dedup.Bootstrap(of, pagesOf(pairs), f.similarities.values)}
	result.curve = dedup.Combinations([]dedup.Way{best.Way}, [][]dedup.Scored{of}, f.similarities.values)
	return result, ctx.Err()
}

type tuneProgress struct {
	read, compared atomic.Int64 // number of pairs read and compared
	since          atomic.Int64 // time at which comparing began, in nanoseconds since 1970; 0 while pairs are still being read
}

func (p *tuneProgress) compare(now time.Time) { p.since.Store(now.UnixNano()) }

func (p *tuneProgress) line() string {
	since := p.since.Load()
	if since == 0 {
		return fmt.Sprintf("%s read", report.Counted(p.read.Load(), "pair"))
	}
	return comparingLine(p.compared.Load(), p.read.Load(), time.Since(time.Unix(0, since)))
}

// comparingLine returns the status line when n of all pairs have been compared. took is the time
// spent on them.
func comparingLine(n, all int64, took time.Duration) string {
	line := fmt.Sprintf("%s of %s compared", report.Grouped(n), report.Counted(all, "pair"))
	if n == all {
		return line + "  computing the quality of all combinations"
	}
	if n == 0 || took < time.Second {
		return line
	}
	return fmt.Sprintf("%s  %s left", line, time.Duration(float64(all-n)/float64(n)*float64(took)).Round(time.Second))
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
		return usagef("tune: nothing to try: specify a --form, a --unit, a --shingle and a --measure")
	}
	return nil
}

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

// score computes the score of each pair for each of the ways, and calls compared after each pair.
// It works on as many pairs at once as there are processors.
func (f *tuneFlags) score(ctx context.Context, pairs []labelledPair, ways []dedup.Way, compared func()) ([][]dedup.Scored, error) {
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
			compared()
			return ctx.Err()
		})
	}
	return scores, workers.Wait()
}

// compare compares the two texts of a pair for each form and shingling. The results are grouped by
// form. It returns nil if ctx ends.
func (f *tuneFlags) compare(ctx context.Context, p labelledPair, bands dedup.Scheme) (all []dedup.Comparison) {
	var a, b dedup.Text
	for _, name := range f.forms {
		form, _ := dedup.ParseForm(name) // the caller has checked the name
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
	panic("no measure is called " + name) // the caller has checked the name
}

// notKnown returns, by form, the number of pairs with a text whose language has no rules for part
// of the form. That part of the form leaves the text unchanged.
func (f *tuneFlags) notKnown(pairs []labelledPair) map[string]int {
	missing := map[string]int{}
	for _, name := range f.forms {
		form, _ := dedup.ParseForm(name) // the caller has checked the name
		for _, p := range pairs {
			if form.Without(p.A.Lang)|form.Without(p.B.Lang) != dedup.Plain {
				missing[name]++
			}
		}
	}
	return missing
}
