package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/internal/corpus"
	"skink/internal/harmless"
	"skink/report"
	"skink/store"
)

// corpusFlags are the flags for reading the files of a corpus.
type corpusFlags struct {
	include, exclude expressions
	fields           corpus.Fields
	strict           bool
	maxBad           int // -1: any number
}

func addCorpusFlags(flags *pflag.FlagSet) *corpusFlags {
	f := &corpusFlags{maxBad: -1}
	flags.Var(&f.include, "include", "read only files whose path matches this regular expression, of whatever kind (may be repeated)")
	flags.Var(&f.exclude, "exclude", "read no file whose path matches this regular expression (may be repeated)")
	flags.StringVar(&f.fields.Text, "text-field", "", "member of a JSON line that holds the text (default: the first of text, content, body, raw_content, document, html, raw_html)")
	flags.StringVar(&f.fields.ID, "id-field", "", "member that names the line (default: the first of url, uri, id, _id, docid, doc_id, document_id, or else FILE:LINE)")
	flags.BoolVar(&f.strict, "strict", false, "stop at the first record that cannot be read, instead of passing over it")
	flags.Var(whole(&f.maxBad, -1, "0 or more, or -1 to stop at no number"), "max-bad", "stop when more records than this cannot be read; -1 never stops")
	return f
}

// inputs returns the files of a corpus.
func (f *corpusFlags) inputs(paths []string, stdin io.Reader) *corpus.Inputs {
	return &corpus.Inputs{Paths: paths, Stdin: stdin, Fields: f.fields, Include: f.include.compiled, Exclude: f.exclude.compiled}
}

// A reading counts the files and records of a corpus that are not judged, and reports them.
type reading struct {
	*corpusFlags
	to     io.Writer
	unread int           // files and folders inside folders that could not be read
	bad    int           // records
	passed report.Passed // skipped files, and skipped records of archives
}

// namedBad is how many bad records are printed. More would not help the user.
const namedBad = 20

// missed counts a file or folder that cannot be read, and prints the error.
func (r *reading) missed(err error) {
	fmt.Fprintf(r.to, "skink: %s\n", harmless.Error(err))
	r.unread++
}

// isBad counts a record that cannot be read, and prints it. It returns an error if there are too
// many.
func (r *reading) isBad(bad *corpus.BadError) error {
	r.bad++
	switch {
	case r.strict:
		return fmt.Errorf("%w%s: without --strict it is passed over", bad, r.help(bad))
	case r.bad <= namedBad:
		fmt.Fprintf(r.to, "skink: %s%s\n", harmless.Error(bad), r.help(bad))
	case r.bad == namedBad+1:
		fmt.Fprintln(r.to, "skink: more records cannot be read; they are counted, and not named")
	}
	if r.maxBad >= 0 && r.bad > r.maxBad {
		return fmt.Errorf("%s cannot be read, and --max-bad allows %d", report.Counted(r.bad, "record"), r.maxBad)
	}
	return nil
}

// help suggests what to do about a bad record.
func (r *reading) help(bad *corpus.BadError) string {
	switch {
	case errors.Is(bad, corpus.ErrNoText):
		return "; --text-field names the one that is"
	case errors.Is(bad, corpus.ErrTooLong):
		return "; with a larger --memory more are read"
	}
	return ""
}

// rest returns a text that counts what was not judged, to follow the counts of what was.
func (r *reading) rest() string {
	var b strings.Builder
	if passed := r.passed.String(); passed != "" {
		fmt.Fprintf(&b, "; passed over: %s", passed)
	}
	if r.bad > 0 {
		fmt.Fprintf(&b, "; bad records: %s", report.Grouped(r.bad))
	}
	if r.unread > 0 {
		fmt.Fprintf(&b, "; could not be read: %s", report.Grouped(r.unread))
	}
	return b.String()
}

// nothing returns the error of a run that read no text, although some inputs should have held one.
func (r *reading) nothing(withoutText int64) error {
	switch passed := r.passed.String(); {
	case withoutText > 0:
		return fmt.Errorf("nothing was read: %s without text%s", report.Counted(withoutText, "record"), r.rest())
	case passed != "":
		return fmt.Errorf("nothing was read: passed over: %s: --include takes files of other kinds by their paths", passed)
	case r.bad > 0:
		return fmt.Errorf("nothing was read: %s could not be read", report.Counted(r.bad, "record"))
	case r.unread > 0:
		return fmt.Errorf("nothing was read: %s files or folders could not be read", report.Grouped(r.unread))
	}
	return errors.New("nothing was read: the files and folders named hold no text, or --include and --exclude leave none")
}

// corpusOutFlags are the flags for writing the records of a judged corpus.
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

// given reports whether any records must be written.
func (f *corpusOutFlags) given() bool { return f.unique != "" || f.duplicates != "" }

// toStdout reports whether records go to standard output, where the report would go.
func (f *corpusOutFlags) toStdout() bool { return f.unique == "-" || f.duplicates == "-" }

// names returns the files that are written.
func (f *corpusOutFlags) names() (all []flagged) {
	for _, one := range []flagged{{"--unique", f.unique}, {"--duplicates", f.duplicates}} {
		if one.name != "" && one.name != "-" {
			all = append(all, one)
		}
	}
	return all
}

// A flagged file is a file named by a flag.
type flagged struct{ flag, name string }

func (f *corpusOutFlags) check() error {
	if f.annotate && !f.given() {
		return usagef("dedup: --annotate adds to the records that are written: name a file with --unique or --duplicates")
	}
	return nil
}

// A corpusOut writes the records of a corpus. A nil writer drops them.
type corpusOut struct{ unique, duplicates *corpus.Writer }

// write calls do with the open writers, and keeps the files only if do succeeds.
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

// take writes a record to the file for its verdict. A record without a verdict counts as unique: it
// was not found to be a copy.
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
