package cli

import (
	"context"
	"fmt"

	"skink/dedup"
	"skink/internal/candidates"
	"skink/internal/ingest"
	"skink/internal/memory"
	"skink/report"
)

// corpusSimilarities are those at which skink tune --corpus compares candidates by default.
var corpusSimilarities = []float64{.5, .6, .7, .8, .9}

// measureCorpus measures the candidates of the schemes on the texts of a corpus.
func (f *tuneFlags) measureCorpus(ctx context.Context, con Console, name string) error {
	rule, err := f.oneRule()
	if err != nil {
		return err
	}
	in, read := f.texts.inputs(con, []string{name}, memory.Default)
	if err := in.Fields.Check(); err != nil {
		return usageError{Err: err}
	}
	if err := findInputs(ctx, con, "tune", in); err != nil {
		return err
	}
	texts, err := candidates.Read(ctx, in, rule, memory.Default, ingest.FileOptions{Bad: read.isBad, Passed: read.passed.Add})
	if err != nil {
		return err
	}
	if texts.Texts < 2 {
		return fmt.Errorf("the corpus has no two different texts of at least %d words; thin: %d; without text: %d%s", rule.MinWords, texts.Thin, texts.NoText, read.rest())
	}
	result, err := texts.Measure(ctx, f.similarities)
	if err != nil {
		return err
	}
	if to := con.files.Of("--svg"); to != nil {
		if err := to.Write(ctx, result.WriteSVG); err != nil {
			return err
		}
	}
	if f.json {
		return report.WriteJSON(con.Out, result)
	}
	return result.WriteText(con.Out, read.rest())
}

// oneRule returns the rule of the flags, which name one length of shingles at most.
func (f *tuneFlags) oneRule() (dedup.Rule, error) {
	if len(f.shingles) > 1 {
		return dedup.Rule{}, usagef("--corpus measures one --shingle at a time")
	}
	if len(f.similarities) == 0 {
		f.similarities = corpusSimilarities
	}
	rule, err := dedup.NewRule(f.similarities[0], "bands", dedup.DefaultMinWords)
	if err != nil {
		return rule, usageError{Err: err}
	}
	rule.Shingling.Unit = f.units[0]
	if len(f.shingles) > 0 {
		rule.Shingling.K = f.shingles[0]
	}
	return rule, nil
}
