package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/dedup"
	"skink/internal/bucket"
	"skink/internal/corpus"
	"skink/internal/output"
	"skink/report"
	"skink/store"
)

type corpusFlags struct {
	include, exclude []*regexp.Regexp
	fields           corpus.Fields
	maxBad           int // number of unreadable records to skip before the command fails; -1 means no limit
}

func addCorpusFlags(flags *pflag.FlagSet) *corpusFlags {
	f := &corpusFlags{maxBad: -1}
	flags.Var(expressions(&f.include), "include", "`REGEXP` read only files whose path matches this regular expression, even if their type is unknown (repeatable)")
	flags.Var(expressions(&f.exclude), "exclude", "`REGEXP` do not read files whose path matches this regular expression (repeatable)")
	flags.StringArrayVar(&f.fields.Text, "text-field", nil, "`NAME` read the text of a record from this field, such as meta.body; repeat it to join fields (default: the usual fields, such as text)")
	flags.StringVar(&f.fields.ID, "id-field", "", "`NAME` read the name of a record from this field or column (default: the usual fields, such as url; else FILE:LINE)")
	flags.Var(whole(&f.maxBad, -1, "0 or more, or -1 for no limit"), "max-bad", "`N` stop if more than N records cannot be read; 0 stops at the first, and -1 means no limit")
	return f
}

// inputs returns the files named by paths. Unreadable files are counted in the reading. A record may
// have at most memory / recordShare bytes.
func (f *corpusFlags) inputs(con Console, paths []string, memory int64) (*corpus.Inputs, *reading) {
	r := &reading{corpusFlags: f, to: con.Err}
	return &corpus.Inputs{
		Paths: paths, Stdin: con.In, Fields: f.fields, Include: f.include, Exclude: f.exclude, Unreadable: r.missed, Passed: r.passed.Add,
		Odd:       func(err error) { fmt.Fprintf(con.Err, "skink: %s\n", harmless.Error(err)) },
		MaxRecord: min(corpus.DefaultMaxRecord, int(memory)/recordShare),
	}, r
}

// recordShare limits the size of a record to 1/recordShare of --memory. Judging a record takes
// about twenty times its size, and half of the memory is for judging records.
const recordShare = 32

// findInputs finds the inputs of a command. It returns an error if one of them does not exist, or is also an output.
func findInputs(ctx context.Context, con Console, command string, in *corpus.Inputs) error {
	for _, path := range in.Paths {
		if _, err := os.Stat(path); err != nil && path != "-" && !bucket.IsAddress(path) {
			return fmt.Errorf("%s: %w", command, plainError(path, err))
		}
	}
	if err := in.Find(ctx); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return asUsage(con.files.Inputs(in.Among))
}

// A reading counts the files and records of a corpus that were not judged, and prints their errors.
type reading struct {
	*corpusFlags
	to     io.Writer
	unread int // number of files and folders that could not be read, except those named on the command line
	bad    int
	passed report.Passed // skipped files, and skipped records of web archives, by reason
}

// namedBad is the maximum number of bad records whose errors are printed. More would not help the
// user, because one wrong flag makes all records bad in the same way.
const namedBad = 3

func (r *reading) missed(err error) {
	fmt.Fprintf(r.to, "skink: %s\n", harmless.Error(err))
	r.unread++
}

// isBad counts a record that cannot be read, and prints its error if it is one of the first
// namedBad. It returns an error, which ends the command, after more than maxBad bad records.
func (r *reading) isBad(bad *corpus.BadError) error {
	r.bad++
	switch {
	case r.maxBad >= 0 && r.bad > r.maxBad:
		return fmt.Errorf("%w%s: %s cannot be read, and --max-bad allows %d", bad, r.help(bad), report.Counted(r.bad, "record"), r.maxBad)
	case r.bad <= namedBad:
		fmt.Fprintf(r.to, "skink: %s%s\n", harmless.Error(bad), r.help(bad))
	case r.bad == namedBad+1:
		fmt.Fprintln(r.to, "skink: further unreadable records are counted, but not listed")
	}
	return nil
}

func (r *reading) help(bad *corpus.BadError) string {
	switch {
	case errors.Is(bad, corpus.ErrNoText):
		return "; use --text-field to specify the field that contains the text"
	case errors.Is(bad, corpus.ErrTooLong):
		return "; use a larger --memory to read larger records"
	}
	return ""
}

// rest returns the end of the summary, which counts the files and records that were not judged,
// such as "; skipped: 3 (png: 3)". It returns "" if all were judged.
func (r *reading) rest() string {
	var b strings.Builder
	if passed := r.passed.String(); passed != "" {
		fmt.Fprintf(&b, "; skipped: %s", passed)
	}
	if r.bad > 0 {
		fmt.Fprintf(&b, "; unreadable records: %s", report.Grouped(r.bad))
	}
	if r.unread > 0 {
		fmt.Fprintf(&b, "; unreadable files and folders: %s", report.Grouped(r.unread))
	}
	return b.String()
}

// nothing returns an error that explains why a run found no text. withoutText is the number of
// records that were read but have no text.
func (r *reading) nothing(withoutText int64) error {
	found := r.rest()
	if withoutText > 0 {
		found = "; records without text: " + report.Grouped(withoutText) + found
	}
	return fmt.Errorf("nothing to read%s; to read files of other kinds, use --include; to read a symbolic link, specify its target", found)
}

type corpusOutFlags struct {
	unique, duplicates string // file names; "" means none, "-" standard output
	dir                string // folder for one file of kept records per input; "" means none
	statistics         string // file name; "" means none
	annotate           bool

	files map[string]string // path of each input's output below dir, by input name; set only with dir
}

func addCorpusOutFlags(flags *pflag.FlagSet) *corpusOutFlags {
	f := &corpusOutFlags{}
	flags.StringVar(&f.unique, "unique", "", "`FILE` write the kept records, unchanged and in order, to this file (compressed if it ends in .gz or .zst), or to standard output (-)")
	flags.StringVar(&f.duplicates, "duplicates", "", "`FILE` write the duplicates to this file, each with its verdict, leader and resemblance; the file may be the same as for --unique")
	flags.StringVar(&f.dir, "out-dir", "", "`DIR` write the kept records of each input file to a file with the same name in this new folder")
	flags.StringVar(&f.statistics, "statistics", "", "`FILE` write a CSV table of the records, words and bytes with each verdict, in all, by input file and by language")
	isOutput(flags, "unique", fileOutput, "--duplicates")
	isOutput(flags, "duplicates", fileOutput, "--unique")
	isOutput(flags, "out-dir", folderOutput, "")
	isOutput(flags, "statistics", fileOutput, "")
	flags.BoolVar(&f.annotate, "annotate", false, "add the verdict, the leader and the resemblance to kept records, not only to duplicates")
	return f
}

func (f *corpusOutFlags) given() bool {
	return f.unique != "" || f.duplicates != "" || f.dir != "" || f.statistics != ""
}

// A corpusOut writes kept records to one file and duplicates to another. Records for a nil writer
// are dropped. If shards is not nil, the kept records go to shards instead of unique.
type corpusOut struct {
	unique, duplicates *corpus.Writer
	shards             *corpus.Shards
	statistics         report.Statistics
	size               func(*store.Record) int // returns the size of the cluster of a page; nil if it is not known
}

// write opens the output files, calls fill with writers to them, and closes them. The files get
// their names only if fill succeeds, so a failed run leaves older files unchanged.
func (f *corpusOutFlags) write(ctx context.Context, con Console, fill func(*corpusOut) error) error {
	out := &corpusOut{statistics: report.Statistics{}}
	if to, judge := con.files.Of("--statistics"), fill; to != nil {
		fill = func(out *corpusOut) error { return cmp.Or(judge(out), to.Write(ctx, out.statistics.Write)) }
	}
	inner := func() error { return fill(out) }
	if dir := con.files.Of("--out-dir"); dir != nil {
		inner = func() error {
			return dir.Fill(func(folder *output.Folder) error { // the folder appears only if fill succeeds
				out.shards = &corpus.Shards{Dir: folder, Annotate: f.annotate, Files: f.files}
				return keepFirst(fill(out), out.shards.Close())
			})
		}
	}
	unique, duplicates := con.files.Of("--unique"), con.files.Of("--duplicates")
	both := unique == duplicates
	if duplicates != nil && !both {
		inner = into(ctx, duplicates, true, &out.duplicates, inner)
	}
	if unique != nil {
		rest := inner
		inner = into(ctx, unique, f.annotate || both, &out.unique, func() error {
			if both {
				out.duplicates = out.unique
			}
			return rest()
		})
	}
	return inner()
}

// into returns a function that opens the file, stores a writer to it in *to, calls do, and
// completes the file if do succeeded.
func into(ctx context.Context, file *output.File, annotate bool, to **corpus.Writer, do func() error) func() error {
	return func() error {
		return file.Write(ctx, func(w io.Writer) error {
			*to = corpus.NewWriter(w, file.Name(), annotate)
			if err := do(); err != nil {
				return err
			}
			return (*to).Close()
		})
	}
}

// take writes a record to the unique records if the verdict on its page is unique or thin, and otherwise to the
// duplicates. A record without text has no verdict, and is kept.
func (o *corpusOut) take(r *corpus.Record, page *store.Record) error {
	note := noteOf(page)
	note.Contaminated = r.Contaminated
	kept := page.Verdict == dedup.Unique || page.Verdict == dedup.Thin || page.Verdict == ""
	if o.size != nil {
		note.ClusterSize = o.size(page)
	}
	o.statistics.Take(r.Input, page.Lang, note.Verdict, kept, page.Words, r.Size())
	return o.put(r, note, kept)
}

func (o *corpusOut) put(r *corpus.Record, note corpus.Note, kept bool) error {
	note.Verdict = cmp.Or(note.Verdict, noText)
	to := o.unique
	if o.shards != nil {
		if err := o.shards.Take(r, note, kept); err != nil {
			return err
		}
	}
	if !kept {
		to = o.duplicates
	}
	if to == nil {
		return nil
	}
	return to.Write(r, note)
}

// noText replaces the verdict for a record without text.
const noText = "no text"

func noteOf(page *store.Record) corpus.Note {
	note := corpus.Note{Verdict: string(page.Verdict), Cluster: cmp.Or(page.DuplicateOf, page.URL)}
	if note.Verdict == "" {
		return corpus.Note{Verdict: noText}
	}
	if page.Verdict == dedup.Exact || page.Verdict == dedup.Near {
		note.DuplicateOf, note.Resemblance, note.Containment = page.DuplicateOf, page.Resemblance, page.Containment
	}
	return note
}

// checkShards returns, by input name, the path of each output below the folder of --out-dir. It
// returns an error if that folder cannot be created, if an input is standard input, or if two
// inputs would have the same output.
func (f *corpusOutFlags) checkShards(in *corpus.Inputs) (map[string]string, error) {
	switch entries, err := os.ReadDir(f.dir); {
	case err == nil && len(entries) > 0:
		return nil, usagef("--out-dir %s is not empty: specify a new folder", f.dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, usageError{Err: err}
	}
	files, from := map[string]string{}, map[string]string{}
	for file, err := range in.Files() {
		if err != nil {
			return nil, err
		}
		name, below := file.Name, file.Below
		if name == "-" {
			return nil, usagef("--out-dir writes one file for each input file: specify files instead of -")
		}
		if cut, ok := strings.CutSuffix(below, ".wacz"); ok { // the output for a package is one archive with the kept records of its archives
			below = cut + ".warc.gz"
		}
		if other, ok := from[below]; ok {
			return nil, usagef("--out-dir: %s and %s would both be written to %s: pass one folder that contains both", other, name, below)
		}
		files[name], from[below] = below, name
	}
	return files, nil
}
