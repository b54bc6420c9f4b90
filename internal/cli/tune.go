package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/dedup/rivals"
	"skink/extract"
	"skink/internal/corpus"
	"skink/report"
)

var tuneCommand = command{
	name:  "tune",
	args:  "[flags] PAIRS",
	short: "find the best settings for labeled pairs",
	setup: setupTune,
	rules: []flagRule{
		{"corpus", excludes, "measure,test,scores", "a corpus has no labeled pairs"},
		{"svg,include,exclude,text-field,id-field,max-bad", modifies, "corpus", ""},
	},
}

type tuneFlags struct {
	units        []dedup.Unit
	shingles     []int // empty means triedShingles
	measures     *list
	similarities []float64         // in ascending order
	test, scores string            // file names; "" means none
	collection   rivals.Collection // of all texts
	json         bool
	corpus       bool         // measure candidates instead
	texts        *corpusFlags // how the corpus is read
}

// triedMeasures and triedShingles are the measures and the shingle lengths that skink tune tries by default.
// A word has five or six characters, so the lengths in characters cover about the same range as
// those in words.
var (
	triedMeasures = []string{"resemblance", "estimate", "containment", "super", "mega"}
	triedShingles = map[dedup.Unit][]int{
		dedup.Words: {1, 2, 3, 4, 5, 6, 8, 10, 12},
		dedup.Chars: {4, 6, 9, 13, 20, 30, 50},
	}
)

func setupTune(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &tuneFlags{
		units:    []dedup.Unit{dedup.Words, dedup.Chars},
		measures: &list{kind: "stringSlice", words: triedMeasures, commas: true, add: checkMeasure},
	}
	flags.Var(several(&f.units, f.units), "unit", "`word|char` try only shingles that consist of words (word) or of characters (char) (repeatable)")
	flags.Var(&list{kind: "N", commas: true, add: f.addShingle}, "shingle", "try only shingles of these lengths, separated by commas (default: 1 to 12 words, 4 to 50 characters)")
	flags.Var(f.measures, "measure", "`MEASURE` try only this measure of similarity (repeatable)")
	flags.StringVar(&f.test, "test", "", "`FILE` choose on PAIRS, and then rate the choice on the pairs of this file")
	isOutput(flags, "test", inputFile, "")
	flags.StringVar(&f.scores, "scores", "", "`FILE` write PAIRS to this file, with the scores of each pair")
	isOutput(flags, "scores", fileOutput, "")
	flags.BoolVar(&f.corpus, "corpus", false, "PAIRS is a file or folder of texts, as of skink dedup: measure how many of their similar pairs the schemes of crawls find, and at what cost")
	f.texts = addCorpusFlags(flags)
	flags.String("svg", "", "`FILE` with --corpus: draw the result")
	isOutput(flags, "svg", fileOutput, "")
	flags.BoolVar(&f.json, "json", false, "print the result as a JSON object")
	flags.Var(&list{kind: "NUMBER", commas: true, add: f.addSimilarity}, "similarity", "try only these similarities (default: 0.05 to 1 in steps of 0.01)")
	return f.run
}

// measures are the similarity scores that skink tune tries, each from 0 to 1. Containment has two directions: A in B, and
// B in A. The larger value counts, which is high for an excerpt.
var measures = map[string]func(dedup.Comparison) float64{
	"resemblance": func(c dedup.Comparison) float64 { return c.Resemblance },
	"estimate":    func(c dedup.Comparison) float64 { return c.Estimate },
	"containment": func(c dedup.Comparison) float64 { return max(c.AInB, c.BInA) },
	"super":       func(c dedup.Comparison) float64 { return float64(c.Super) / dedup.SuperShingles },
	"mega":        func(c dedup.Comparison) float64 { return float64(c.Mega) / dedup.MegaShingles },
}

func (f *tuneFlags) run(ctx context.Context, con Console, args []string) error {
	if err := standsAlone(con, args); err != nil {
		return err
	}
	if f.test == args[0] {
		return usagef("--test %s names PAIRS itself, on which the choice is made: specify other pairs", f.test)
	}
	if f.corpus {
		return f.measureCorpus(ctx, con, args[0])
	}
	if len(f.similarities) == 0 {
		f.similarities = dedup.Thresholds()
	}
	result, err := f.tune(ctx, con, args[0])
	if err != nil {
		return err
	}
	if f.json {
		return report.WriteJSON(con.Out, result)
	}
	return result.print(con.Out)
}

func (f *tuneFlags) tune(ctx context.Context, con Console, name string) (*tuning, error) {
	read := func(name string) ([]labelledPair, error) {
		return await(ctx, func() ([]labelledPair, error) { return readLabelled(con, name) })
	}
	pairs, err := read(name)
	if err != nil {
		return nil, err
	}
	var others []labelledPair
	if f.test != "" {
		if others, err = read(f.test); err != nil {
			return nil, err
		}
	}
	f.collect(pairs)
	ways := f.ways()
	scores, err := f.score(ctx, pairs, ways)
	if err != nil {
		return nil, err
	}
	if to := con.files.Of("--scores"); to != nil {
		if err := to.Write(ctx, func(w io.Writer) error { return f.writeScores(w, pairs, ways, scores) }); err != nil {
			return nil, err
		}
	}
	tested, err := f.score(ctx, others, ways)
	if err != nil {
		return nil, err
	}
	result := &tuning{Pairs: len(pairs), Duplicates: duplicatesOf(pairs), TestedOn: f.test, Tried: dedup.Tune(ways, scores, f.similarities)}
	for i := range result.Tried {
		if tried := &result.Tried[i]; f.test != "" {
			q := dedup.Assess(tested[slices.Index(ways, tried.Way)], tried.Threshold)
			tried.Tested = &q
		}
	}
	pages := pagesOf(pairs)
	differ := func(first, second func(dedup.Way) bool) dedup.Difference {
		var sets [2][][]dedup.Scored
		for i, w := range ways {
			for set, has := range []func(dedup.Way) bool{first, second} {
				if has(w) {
					sets[set] = append(sets[set], scores[i])
				}
			}
		}
		return dedup.Differ(sets[0], sets[1], pages, f.similarities)
	}
	best := result.recommended(differ)
	result.Recommendation = recommendation{best.Way, best.Choice, best.Quality, best.Tested, dedup.Bootstrap(scores[slices.Index(ways, best.Way)], pages, f.similarities)}
	isRival := func(w dedup.Way) bool { return isNoEstimate(w) && (!f.measures.given || w.Measure != best.Measure) }
	if rival := result.first(isRival); rival != nil && (f.measures.given || rival.CrossValidated.F1 > best.CrossValidated.F1) {
		result.Rival = &contest{rival.Way, rival.CrossValidated.F1, differ(isRival, func(w dedup.Way) bool { return w == best.Way })}
	}
	return result, ctx.Err()
}

// collect counts the words of all texts, for the measures of words.
func (f *tuneFlags) collect(pairs []labelledPair) {
	texts := map[string]*extract.Document{}
	for _, p := range pairs {
		texts[p.A.Text], texts[p.B.Text] = p.A, p.B
	}
	var text dedup.Text
	for _, d := range texts {
		text.ReadString(d.Text)
		f.collection.Add(&text)
	}
}

func checkMeasure(name string) error {
	others := slices.Concat(slices.Sorted(maps.Keys(rivals.Measures)), slices.Sorted(maps.Keys(rivals.WordMeasures)))
	if measures[name] == nil && !slices.Contains(others, name) {
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

// ways returns the combinations in the order in which compare returns their scores. Measures of words are tried once.
func (f *tuneFlags) ways() (ways []dedup.Way) {
	for i, s := range f.shinglings() {
		for _, m := range f.measures.words {
			if rivals.WordMeasures[m] == nil {
				ways = append(ways, dedup.Way{Unit: s.Unit, Shingle: s.K, Measure: m})
			} else if i == 0 {
				ways = append(ways, dedup.Way{Unit: dedup.Words, Measure: m})
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

// score computes the score of each pair for each of the ways.
// It works on as many pairs at once as there are processors.
func (f *tuneFlags) score(ctx context.Context, pairs []labelledPair, ways []dedup.Way) ([][]dedup.Scored, error) {
	scores := make([][]dedup.Scored, len(ways))
	for i := range scores {
		scores[i] = make([]dedup.Scored, len(pairs))
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range pairs {
		workers.Go(func() error {
			for way, score := range f.compare(ctx, p, ways) {
				scores[way][i] = dedup.Scored{Score: score, Duplicate: p.Duplicate}
			}
			return ctx.Err()
		})
	}
	return scores, workers.Wait()
}

// compare returns the scores of a pair, in the order of the ways. It returns nil if ctx ends.
func (f *tuneFlags) compare(ctx context.Context, p labelledPair, ways []dedup.Way) (scores []float64) {
	var a, b dedup.Text
	var c dedup.Comparison
	var before dedup.Way
	a.ReadString(p.A.Text)
	b.ReadString(p.B.Text)
	for _, w := range ways {
		if ctx.Err() != nil {
			return nil
		}
		s := dedup.Shingling{Unit: w.Unit, K: w.Shingle}
		if before.Measure = w.Measure; w.Shingle > 0 && w != before { // another shingling
			c = dedup.Compare(&a, &b, s)
		}
		score := 0.0
		if ofWords := rivals.WordMeasures[w.Measure]; ofWords != nil {
			score = ofWords(&f.collection, rivals.Doc{Text: &a, Lang: p.A.Lang}, rivals.Doc{Text: &b, Lang: p.B.Lang})
		} else if rival := rivals.Measures[w.Measure]; rival != nil {
			score = rival(s.Append(nil, &a), s.Append(nil, &b))
		} else {
			score = measures[w.Measure](c)
		}
		scores, before = append(scores, score), w
	}
	return scores
}

// writeScores writes the pairs with all their fields, and in the field scores the score of each way.
func (f *tuneFlags) writeScores(w io.Writer, pairs []labelledPair, ways []dedup.Way, scores [][]dedup.Scored) error {
	pack := corpus.Pack(w, f.scores)
	lines := json.NewEncoder(pack)
	lines.SetEscapeHTML(false)
	for i, p := range pairs {
		of := map[string]float64{}
		for way, name := range ways {
			of[name.String()] = scores[way][i].Score
		}
		p.fields["scores"], _ = json.Marshal(of)
		if err := lines.Encode(p.fields); err != nil {
			return err
		}
	}
	return pack.Close()
}
