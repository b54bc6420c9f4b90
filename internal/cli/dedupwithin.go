package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/internal/session"
	"skink/internal/within"
	"skink/report"
)

var withinRules = []flagRule{
	{"within-words,min-left", modifies, "within", ""},
	{"within", excludes, "store,by-id,against,pairs,keep,statistics,decontaminate,rule=containment,format=csv,format=html", "parts of texts are removed, and no text is judged"},
	{"within=run", ignores, "similarity,shingle,unit", "the words of a run are the same"},
	{"within", ignores, "min-words,scheme,top", "they are about whole texts; see --within-words"},
}

// addWithinFlags adds the flags for removing parts of texts, instead of whole texts. Without --within, Unit is "".
func addWithinFlags(flags *pflag.FlagSet) *within.Options {
	o := &within.Options{}
	flags.Var(oneOf(&o.Unit, within.Paragraph, within.Line, within.Sentence, within.Run), "within", "remove from each text the paragraphs, lines, sentences or runs of words that occur before")
	flags.Var(whole(&o.Words, 1, "1 or more"), "within-words", "`N` with --within: keep parts with fewer words (10, or 50 for runs)")
	flags.Var(ratio(&o.Left, 0, "a number from 0 to 1"), "min-left", "with --within: drop a text if less than this share of its words is left, or none")
	return o
}

// cut removes the parts of the texts that occur before.
func (d *dedupRun) cut(ctx context.Context, rule dedup.Rule, in *corpus.Inputs) (err error) {
	if len(in.Fields.Text) > 1 {
		return usagef("--within cuts the text of one field: specify one --text-field")
	}
	in.Documents = session.DocumentsOf(d.rule.settings(), *d.memory)
	defer in.Documents.Close()
	opt := *d.within
	opt.Rule, opt.Memory, opt.Documents, opt.InPlace = rule, *d.memory, in.Documents, d.records.dir != ""
	opt.Files = ingest.FileOptions{Bad: d.reading.isBad, Passed: d.reading.passed.Add, Lacks: d.con.lacks}
	var cuts *within.Cuts
	err = showWhile(d.con, d.quiet, func() string { return report.Bytes(in.Read()) + " read" }, func() (err error) {
		cuts, err = within.Find(ctx, in, opt)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, cuts.Close()) }()
	t := &cuts.Tally
	if t.Unique+t.Cut+t.Dropped == 0 {
		return d.reading.nothing(int64(t.NoText))
	}
	if d.records.given() {
		err = d.records.write(ctx, d.con, func(out *corpusOut) error { return cuts.Write(ctx, out.put) })
		if err != nil {
			return err
		}
	}
	n := func(parts int) string { return report.Grouped(parts) }
	if !d.quiet {
		parts := fmt.Sprintf("%s kept, %s exact, %s near", n(t.Kept.Parts), n(t.Exact.Parts), n(t.Near.Parts))
		if opt.Unit == within.Run {
			parts = n(t.Exact.Parts) + " removed"
		}
		fmt.Fprintf(d.con.Err, "%s: %s unique, %s cut, %s dropped; %ss: %s; records without text: %s%s\n", report.Counted(t.Unique+t.Cut+t.Dropped, "text"),
			n(t.Unique), n(t.Cut), n(t.Dropped), opt.Unit, parts, n(t.NoText), d.reading.rest())
	}
	if d.con.files.Of("--out") == nil { // the records go to standard output
		return nil
	}
	return d.out.write(ctx, d.con, func(w io.Writer) error {
		if d.form.Format == report.JSON {
			return writeLine(w, t)
		}
		_, err := fmt.Fprintf(w, "texts         %10s\n  unique      %10s\n  cut         %10s\n  dropped     %10s\n%-12s  %10s  %12s words\n  kept        %10s  %12s words\n  exact       %10s  %12s words removed\n  near        %10s  %12s words removed\n",
			n(t.Unique+t.Cut+t.Dropped), n(t.Unique), n(t.Cut), n(t.Dropped), d.within.Unit+"s", n(t.Kept.Parts+t.Exact.Parts+t.Near.Parts), n(t.Kept.Words+t.Exact.Words+t.Near.Words),
			n(t.Kept.Parts), n(t.Kept.Words), n(t.Exact.Parts), n(t.Exact.Words), n(t.Near.Parts), n(t.Near.Words))
		return err
	})
}
