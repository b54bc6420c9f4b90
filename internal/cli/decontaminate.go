package cli

import (
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/pflag"

	"skink/internal/corpus"
	"skink/internal/decontaminate"
	"skink/internal/session"
	"skink/store"
)

type decontaminateFlags struct {
	benchmark []string // files and folders; nil means that records are not screened
	ngram     int
	action    decontaminate.Action
}

func addDecontaminateFlags(flags *pflag.FlagSet) *decontaminateFlags {
	f := &decontaminateFlags{ngram: decontaminate.DefaultRun, action: decontaminate.Remove}
	flags.StringArrayVar(&f.benchmark, "decontaminate", nil, "`PATH` find records that have a run of words of a record in this file or folder, such as a benchmark (repeatable)")
	flags.Var(whole(&f.ngram, 1, "1 or more"), "ngram", "`N` with --decontaminate: number of words in a run")
	flags.Var(oneOf(&f.action, decontaminate.Remove, decontaminate.Cut, decontaminate.Mark), "on-contaminated", "with --decontaminate: remove such records, cut the runs out of them, or only mark them")
	return f
}

var decontaminateRules = []flagRule{
	{"ngram,on-contaminated", modifies, "decontaminate", ""},
	{"on-contaminated=mark", needs, "annotate", "the mark is an added field"},
}

// benchmark returns the inputs of --decontaminate. In a folder, all files with text are read.
func (d *dedupRun) benchmark() *corpus.Inputs {
	all := []*regexp.Regexp{regexp.MustCompile("")}
	return &corpus.Inputs{Paths: d.contaminated.benchmark, Stdin: d.con.In, Include: all, Fields: d.corpus.fields, Passed: d.reading.passed.Add}
}

// readBenchmark sets d.screen, if there is a benchmark.
func (d *dedupRun) readBenchmark(ctx context.Context, set store.Settings) error {
	if d.contaminated.benchmark == nil {
		return nil
	}
	if d.contaminated.action == decontaminate.Cut && len(d.corpus.fields.Text) > 1 {
		return usagef("--on-contaminated cut changes one field: specify one --text-field")
	}
	in := d.tests
	in.Documents = session.DocumentsOf(set, *d.memory)
	defer in.Documents.Close()
	benchmark, err := decontaminate.Read(ctx, in, d.contaminated.ngram)
	if err != nil {
		return fmt.Errorf("--decontaminate: %w", err)
	}
	d.screen = &decontaminate.Screen{Benchmark: benchmark, Action: d.contaminated.action}
	return nil
}
