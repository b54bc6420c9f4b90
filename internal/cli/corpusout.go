package cli

import (
	"io"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/internal/corpus"
	"skink/store"
)

// corpusOutFlags say where the records of a judged corpus go.
type corpusOutFlags struct {
	unique, duplicates string // "": nowhere
	annotate           bool
}

func addCorpusOutFlags(flags *pflag.FlagSet) *corpusOutFlags {
	f := &corpusOutFlags{}
	flags.StringVar(&f.unique, "unique", "", "write the records that are kept to this file, each as it was read and in their order, packed as its name says (.gz, .zst); - for standard output, without the report")
	flags.StringVar(&f.duplicates, "duplicates", "", "write the others to this file, with skink_verdict, skink_duplicate_of and skink_resemblance; it may be the file of --unique")
	flags.BoolVar(&f.annotate, "annotate", false, "add these members to the records of --unique, too")
	return f
}

// given says whether any records are to be written.
func (f *corpusOutFlags) given() bool { return f.unique != "" || f.duplicates != "" }

// toStdout says whether records go to standard output, where the report would go.
func (f *corpusOutFlags) toStdout() bool { return f.unique == "-" || f.duplicates == "-" }

// names are the files that are written.
func (f *corpusOutFlags) names() (all []flagged) {
	for _, one := range []flagged{{"--unique", f.unique}, {"--duplicates", f.duplicates}} {
		if one.name != "" && one.name != "-" {
			all = append(all, one)
		}
	}
	return all
}

// A flagged file is named by a flag.
type flagged struct{ flag, name string }

func (f *corpusOutFlags) check() error {
	if f.annotate && !f.given() {
		return usagef("dedup: --annotate adds to the records that are written: name a file with --unique or --duplicates")
	}
	return nil
}

// A corpusOut is the records of a corpus on their way out. A nil writer takes nothing.
type corpusOut struct{ unique, duplicates *corpus.Writer }

// write calls do with the open writers, and leaves files only if do succeeds.
func (f *corpusOutFlags) write(con Console, do func(*corpusOut) error) error {
	out := &corpusOut{}
	inner := func() error { return do(out) }
	if f.duplicates != "" && f.duplicates != f.unique {
		inner = f.into(con, f.duplicates, true, &out.duplicates, inner)
	}
	if f.unique != "" {
		both := f.unique == f.duplicates
		rest := inner
		inner = f.into(con, f.unique, f.annotate || both, &out.unique, func() error {
			if both {
				out.duplicates = out.unique
			}
			return rest()
		})
	}
	return inner()
}

// into returns a function that runs do while a writer to a file is open.
func (f *corpusOutFlags) into(con Console, name string, annotate bool, to **corpus.Writer, do func() error) func() error {
	fill := func(w io.Writer) error {
		*to = corpus.NewWriter(w, name, annotate)
		if err := do(); err != nil {
			return err
		}
		return (*to).Close()
	}
	if name == "-" {
		return func() error { return fill(con.Out) }
	}
	return func() error { return writeFile(name, fill) }
}

// take writes a record where its verdict says. A record without a verdict goes with the unique
// ones: it was not found to be a copy.
func (o *corpusOut) take(r *corpus.Record, page *store.Record) error {
	note, to := noteOf(page), o.unique
	if page.Verdict == dedup.Exact || page.Verdict == dedup.Near {
		to = o.duplicates
	}
	if to == nil {
		return nil
	}
	return to.Write(r, note)
}

func noteOf(page *store.Record) corpus.Note {
	note := corpus.Note{Verdict: string(page.Verdict)}
	if page.Verdict == dedup.Exact || page.Verdict == dedup.Near {
		note.DuplicateOf, note.Resemblance = page.DuplicateOf, page.Resemblance
	}
	return note
}
