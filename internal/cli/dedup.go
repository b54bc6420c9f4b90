package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/internal/complete"
	"skink/internal/corpus"
	"skink/internal/decontaminate"
	"skink/internal/ingest"
	"skink/internal/join"
	"skink/internal/newest"
	"skink/internal/output"
	"skink/internal/session"
	"skink/internal/within"
	"skink/report"
	"skink/store"
	"skink/store/badger"
)

// tempStore is the prefix of the folder name of a temporary store, which skink dedup creates
// without --store.
const tempStore = "skink-dedup-"

var dedupCommand = command{
	name:  "dedup",
	args:  "[flags] PATH...",
	short: "find duplicates among files",
	setup: setupDedup,
	rules: slices.Concat(ruleRules, decontaminateRules, withinRules, []flagRule{
		{"pairs", ignores, "format,top", "no report is printed"},
		{"annotate", modifies, "unique,out-dir,duplicates", ""},
		{"unique", excludes, "out-dir", "both write the kept records"},
		{"keep", excludes, "store", "a store judges records in the order in which they are read"},
		{"keep", excludes, "pairs", "no text is kept or dropped"},
		{"by-id", excludes, "store", "a different text with a known name counts as a new visit"},
		{"against", excludes, "store", "texts are compared with a store that is not changed"},
		{"against", excludes, "keep,pairs", "texts are compared in the order of the input"},
	}),
}

type dedupFlags struct {
	store   string // "" means a temporary store, which is deleted at the end
	rule    *ruleFlags
	corpus  *corpusFlags
	records *corpusOutFlags
	keep    *keepFlags
	within  *within.Options
	pairs   bool
	memory  *int64
	form    *report.Options
	out     *outFlags
	quiet   bool

	contaminated *decontaminateFlags
}

func setupDedup(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &dedupFlags{}
	flags.Var(storeName{&f.store}, "store", "`STORE` keep the texts and their verdicts in this store, a folder or a postgres:// address (default: a temporary store)")
	f.rule = addRuleFlags(flags)
	f.rule.addDocumentsFlag(flags, true)
	f.corpus = addCorpusFlags(flags)
	f.records = addCorpusOutFlags(flags)
	f.keep = addKeepFlags(flags)
	f.contaminated = addDecontaminateFlags(flags)
	f.within = addWithinFlags(flags)
	flags.BoolVar(&f.pairs, "pairs", false, "instead of the report, print the pairs of similar texts, one JSON object per line: {\"a\",\"b\",\"resemblance\"}")
	f.memory = addMemoryFlag(flags, memoryUsage)
	f.form = addFormFlags(flags)
	f.out = addOutFlags(flags)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors and the report")
	return f.run
}

func (f *dedupFlags) run(ctx context.Context, con Console, args []string) error {
	return (&dedupRun{dedupFlags: f, con: con}).run(ctx, args)
}

type dedupRun struct {
	*dedupFlags // command-line flags, not changed during the run
	con         Console
	reading     *reading
	tests       *corpus.Inputs        // benchmark of --decontaminate
	screen      *decontaminate.Screen // nil without it
	replaced    newest.Replaced       // empty without --by-id
	whole       *complete.Whole       // result of comparing all texts with each other; nil with --keep first
}

func (d *dedupRun) run(ctx context.Context, args []string) (err error) {
	paceCollector(*d.memory/heapShare, *d.memory, completePercent)
	in := d.inputs(args)
	d.tests = d.benchmark()
	if err := in.Fields.Check(); err != nil {
		return usageError{Err: err}
	}
	rule, err := session.RuleOf(d.rule.settings())
	if err := cmp.Or(err, d.keep.check(rule)); err != nil {
		return err
	}
	if err := cmp.Or(findInputs(ctx, d.con, "dedup", in), findInputs(ctx, d.con, "dedup", d.tests)); err != nil {
		return err
	}
	if d.records.dir != "" {
		if d.records.files, err = d.records.checkShards(in); err != nil {
			return err
		}
	}
	switch {
	case d.keep.newest:
		err = readTwice("--by-id", args)
	case !d.records.given():
	case d.within.Unit != "":
		err = readTwice("--within", args)
	case !d.keep.first():
		err = readTwice("--keep "+d.keep.keep, args)
	}
	if err != nil {
		return err
	}
	if d.within.Unit != "" {
		return d.cut(ctx, rule, in)
	}
	s, remove, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer remove()
	defer func() { err = keepFirst(err, s.Close()) }()
	warn(d.con.Err, s.loss())
	if d.store != "" { // other processes can read a store named by the user while this one writes to it
		stop := s.answer("skink dedup", func(err error) { fmt.Fprintf(d.con.Err, "skink: %v\n", err) })
		defer func() { err = keepFirst(err, stop()) }()
	}
	judge := func(over store.Store, known *store.Settings) error {
		return d.judge(ctx, over, s.Name, in, known)
	}
	if len(d.keep.against) == 0 {
		return judge(s, nil)
	}
	if err := session.MayBegin(ctx, s, s.Name); err != nil { // the overlay has the pages of other stores too
		return err
	}
	return d.over(ctx, s, judge)
}

// openStore opens the store of --store, or creates a temporary store. Call remove after closing the
// store.
func (d *dedupRun) openStore(ctx context.Context) (s *writeStore, remove func(), err error) {
	if d.store != "" {
		s, err = openStore(ctx, d.store, true, 16)
		return s, func() {}, err
	}
	return openTemporary()
}

func openTemporary() (s *writeStore, remove func(), err error) {
	dir, remove, err := output.TemporaryFolder(tempStore)
	if err != nil {
		return nil, nil, fmt.Errorf("create a temporary store: %w: choose another folder with --store", err)
	}
	if s, err = openFolder(dir, badger.Options{Create: true, Temporary: true, Files: 16}); err != nil {
		remove()
	}
	return s, remove, err
}

// inputs returns the files named by args. Unreadable files are counted in d.reading.
func (d *dedupRun) inputs(args []string) (in *corpus.Inputs) {
	in, d.reading = d.corpus.inputs(d.con, args, *d.memory)
	in.Fields.Rank = d.keep.ranking().Field
	return in
}

// judge judges the inputs and writes the result to the store s. known holds the settings of the
// --against store, which apply to the inputs too. It is nil without --against.
func (d *dedupRun) judge(ctx context.Context, s store.Store, name string, in *corpus.Inputs, known *store.Settings) error {
	rule, set, err := d.agree(ctx, s, name, known)
	if err != nil {
		return err
	}
	if err := d.readBenchmark(ctx, set); err != nil {
		return err
	}
	if d.keep.newest {
		if err := d.findReplaced(ctx, in, set); err != nil {
			return err
		}
	}
	pipeline, err := d.pipeline(ctx, s, rule, set, in)
	if err != nil {
		return err
	}
	err = d.records.write(ctx, d.con, func(out *corpusOut) error {
		defer d.screen.Statistics(out.statistics)
		if !d.keep.first() {
			return d.takeBest(ctx, s, rule, pipeline, in, out)
		}
		names, err := d.take(ctx, pipeline, in, out.take)
		if err == nil && !d.quiet {
			d.summarize(pipeline.Added(), names)
		}
		return err
	})
	if err := keepFirst(err, pipeline.Close()); err != nil {
		return err
	}
	if d.con.files.Of("--out") == nil { // the records go to standard output
		return nil
	}
	return d.out.write(ctx, d.con, func(w io.Writer) error {
		if !d.pairs {
			form := *d.form
			form.Rule = rule
			if d.whole != nil {
				return report.Write(ctx, w, report.FromStore(d.whole), form)
			}
			return report.Write(ctx, w, report.FromStore(s), form)
		}
		return writePairs(w, complete.Pairs(ctx, s, rule, *d.memory))
	})
}

// pipeline starts a pipeline that judges the inputs.
func (d *dedupRun) pipeline(ctx context.Context, s store.Store, rule dedup.Rule, set store.Settings, in *corpus.Inputs) (*ingest.Pipeline, error) {
	in.Documents = session.DocumentsOf(set, *d.memory)
	opt := ingest.Options{Rule: rule, Markdown: set.Markdown, NoLinks: true, Shared: isShared(d.store), Temporary: d.store == "", Memory: *d.memory, Documents: in.Documents}
	if d.screen != nil || d.replaced.Count > 0 {
		opt.Screen = d.leaving
	}
	return ingest.New(ctx, s, opt)
}

// take judges the inputs in order. If records must be written, it calls judged with each record and
// its page. The result counts the names that occurred more than once.
func (d *dedupRun) take(ctx context.Context, pipeline *ingest.Pipeline, in *corpus.Inputs, judged func(*corpus.Record, *store.Record) error) (names ingest.Names, err error) {
	opt := ingest.FileOptions{Bad: d.reading.isBad, Passed: d.reading.passed.Add, Lacks: d.con.lacks}
	if d.records.given() {
		opt.Judged = judged
	}
	err = d.show(pipeline, in, func() (err error) {
		names, err = pipeline.Files(ctx, in.Records(ctx), opt)
		return err
	})
	added := pipeline.Added()
	if err == nil && (in.Read() == 0 || added.Pages() == 0 && names.Known == 0 && names.Changed == 0 && d.screen.Left() == 0) {
		err = d.reading.nothing(added.Skipped)
	}
	return names, err
}

func (d *dedupRun) takeBest(ctx context.Context, s store.Reader, rule dedup.Rule, pipeline *ingest.Pipeline, in *corpus.Inputs, out *corpusOut) (err error) {
	var notes join.Sorter
	defer func() { err = keepFirst(err, notes.Close()) }()
	names, err := d.take(ctx, pipeline, in, func(r *corpus.Record, page *store.Record) error {
		row, _ := binary.Append(nil, binary.BigEndian, noted{uint64(r.Num), page.ID, uint32(page.Words), r.Contaminated != nil}) // all fields have a fixed size
		return notes.Add(row)
	})
	if err != nil {
		return err
	}
	if err := d.keepBest(ctx, s, rule, in, &notes, out); err != nil || d.quiet {
		return err
	}
	t, err := d.whole.Tally(ctx)
	if err != nil {
		return err
	}
	d.summarize(t, names)
	if lacking := t.Pages() - int64(d.whole.Ranked()); in.Fields.Rank != "" && lacking > 0 {
		fmt.Fprintf(d.con.Err, "skink: texts without %s: %s; they are kept only if no other text of their cluster has it\n", in.Fields.Rank, report.Grouped(lacking))
	}
	return nil
}

func (d *dedupRun) show(pipeline *ingest.Pipeline, in *corpus.Inputs, do func() error) error {
	size, began := in.Size(), time.Now()
	return showWhile(d.con, d.quiet, func() string { return judging{in.Read(), size, pipeline.Added(), time.Since(began)}.line() }, do)
}

func (d *dedupRun) summarize(t store.Tally, names ingest.Names) {
	fmt.Fprintf(d.con.Err, "%s: %s unique, %s exact, %s near, %s thin; repeated names: %s",
		report.Counted(t.Pages(), "text"), report.Grouped(t.Unique), report.Grouped(t.Exact), report.Grouped(t.Near), report.Grouped(t.Thin), report.Grouped(names.Repeated))
	if t.Skipped > 0 {
		fmt.Fprintf(d.con.Err, "; records without text: %s", report.Grouped(t.Skipped))
		if d.records.given() {
			fmt.Fprint(d.con.Err, " (kept)")
		}
	}
	if d.replaced.Count > 0 {
		fmt.Fprintf(d.con.Err, "; replaced by later records: %s", report.Grouped(d.replaced.Count))
	}
	if names.Changed > 0 {
		fmt.Fprintf(d.con.Err, "; changed: %s", report.Grouped(names.Changed))
	}
	if names.Known > 0 {
		fmt.Fprintf(d.con.Err, "; already in the store: %s", report.Grouped(names.Known))
	}
	fmt.Fprintln(d.con.Err, d.reading.rest())
	if d.screen != nil {
		fmt.Fprintln(d.con.Err, d.screen.Summary())
	}
}

func writePairs(w io.Writer, pairs iter.Seq2[complete.Pair, error]) error {
	out := bufio.NewWriter(w)
	for p, err := range pairs {
		if err == nil {
			err = writeLine(out, p)
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}
