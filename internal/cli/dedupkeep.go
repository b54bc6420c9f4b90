package cli

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/extract"
	"skink/frontier"
	"skink/internal/bucket"
	"skink/internal/complete"
	"skink/internal/corpus"
	"skink/internal/join"
	"skink/internal/newest"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/store/badger"
	"skink/store/overlay"
)

type keepFlags struct {
	keep    string
	newest  bool // whether only the last record with each name is kept
	against []string
}

const (
	keepFirstText   = "first"
	keepLongestText = "longest"
)

func addKeepFlags(flags *pflag.FlagSet) *keepFlags {
	f := &keepFlags{}
	flags.StringVar(&f.keep, "keep", keepFirstText, "`first|longest|FIELD` keep this text of each cluster, or that with the largest FIELD; FIELD:min keeps the smallest")
	flags.BoolVar(&f.newest, "by-id", false, "of the records with the same name, keep only the last, before duplicates are found; the inputs are read once more")
	flags.StringArrayVar(&f.against, "against", nil, "`PATH` also drop texts that duplicate a text in this store, file or folder, which is not changed (repeatable)")
	return f
}

// first reports whether the first text of each cluster is kept, so texts are judged in order. For all other texts,
// every text is compared with all others.
func (f *keepFlags) first() bool { return f.keep == keepFirstText }

// ranking returns the options of the comparison that say which text is kept.
func (f *keepFlags) ranking() (opt complete.Options) {
	if f.keep == keepLongestText || f.first() {
		return complete.Options{Longest: !f.first()}
	}
	opt.Field, opt.Least = strings.CutSuffix(f.keep, ":min")
	opt.Field = strings.TrimSuffix(opt.Field, ":max")
	return opt
}

// check returns an error if the flags contradict the rule.
func (f *keepFlags) check(rule dedup.Rule) error {
	switch opt := f.ranking(); {
	case opt.Field == "" && !opt.Longest && !f.first():
		return usagef("--keep %q names no field: use first, longest, or a field such as date or date:min", f.keep)
	case opt.Field != "" && rule.Contained > 0:
		return usagef("--keep %s and --rule containment cannot be used together: only a longer text can contain another", f.keep)
	}
	return nil
}

// over calls do with s and the texts of --against, with which the inputs are compared. It also passes the
// settings of their stores, because the inputs are judged by the same rule; nil means those of the flags.
func (d *dedupRun) over(ctx context.Context, s store.Store, do func(store.Store, *store.Settings) error) (err error) {
	var files []string
	var set *store.Settings // of the store that was opened last
	var last string
	for _, name := range slices.Backward(d.keep.against) {
		if !badger.IsStore(name) && (!frontier.HasScheme(name) || bucket.IsAddress(name)) {
			files = append(files, name)
			continue
		}
		known, has, openErr := d.openKnown(ctx, name)
		if openErr != nil {
			return openErr
		}
		defer func() { err = keepFirst(err, known.Close()) }()
		if set != nil {
			set.Selectors, set.Reselected = has.Selectors, has.Reselected // texts of other hosts may have other selectors
			if !reflect.DeepEqual(*set, has) {
				return usagef("--against: %s and %s were created with different settings, so texts cannot be compared with both: run skink dedup once for each", name, last)
			}
		}
		s, set, last = overlay.New(s, known), &has, name
	}
	if files == nil {
		return do(s, set)
	}
	slices.Reverse(files)
	return d.overFiles(ctx, s, files, set, do)
}

// overFiles reads the texts of files into a temporary store, and calls do with s over it.
func (d *dedupRun) overFiles(ctx context.Context, s store.Store, files []string, set *store.Settings, do func(store.Store, *store.Settings) error) (err error) {
	known, remove, err := openTemporary()
	if err != nil {
		return err
	}
	defer remove()
	defer func() { err = keepFirst(err, known.Close()) }()
	flags := *d.dedupFlags
	flags.records = &corpusOutFlags{}
	of := &dedupRun{dedupFlags: &flags, con: d.con}
	in := of.inputs(files)
	if err := findInputs(ctx, of.con, "dedup", in); err != nil {
		return err
	}
	rule, now, err := d.agree(ctx, known, files[0], set)
	if err != nil {
		return err
	}
	pipeline, err := of.pipeline(ctx, known, rule, now, in)
	if err != nil {
		return err
	}
	_, err = of.take(ctx, pipeline, in, nil)
	if err := keepFirst(err, pipeline.Close()); err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	return do(overlay.New(s, known), &now)
}

func (d *dedupRun) openKnown(ctx context.Context, name string) (*badger.Store, store.Settings, error) {
	s, err := open(name, badger.Options{ReadOnly: true})
	if err != nil {
		return nil, store.Settings{}, err
	}
	set, err := d.settingsOf(ctx, s, name)
	if err != nil {
		return nil, set, errors.Join(err, s.Close())
	}
	warn(d.con.Err, s.Loss())
	return s, set, nil
}

// settingsOf returns the settings for judging the inputs against s, the store of --against. They
// are the settings of s, except those that concern only the inputs. It returns an error if flags
// contradict the settings of s.
func (d *dedupRun) settingsOf(ctx context.Context, s store.Reader, name string) (store.Settings, error) {
	set, err := storedSettings(ctx, s)
	if err != nil {
		return set, err
	}
	wanted := d.rule.wanted()
	wanted.Insist = slices.DeleteFunc(wanted.Insist, func(flag string) bool { return flag == "documents" })
	if err := wanted.Fits(set, name); err != nil {
		return set, err
	}
	set.Documents = wanted.Documents                                         // the flag selects the kinds of input files to read, independently of s
	set.NoLinks, set.Markdown, set.SkipTexts = true, store.NoMarkdown, false // the texts of the inputs are not stored as Markdown
	return set, nil
}

// agree returns the rule and settings for judging the inputs, and writes the settings to the store
// s. known holds the settings of the --against store. If it is nil, the settings come from the
// flags and from s; see [session.Agree].
func (d *dedupRun) agree(ctx context.Context, s store.Store, name string, known *store.Settings) (dedup.Rule, store.Settings, error) {
	if known == nil {
		return session.Agree(ctx, s, name, d.rule.wanted())
	}
	rule, err := session.StoredRule(*known, name)
	if err != nil {
		return rule, *known, err
	}
	return rule, *known, store.WriteSettings(ctx, s, *known)
}

// # Keeping another text than the first
//
// The longest text of a cluster, or that with the largest field, is known only after all texts have been
// read. So if records must be written, the corpus is read twice: first to judge the records, then to write
// them. Between the two passes, a temporary file holds each record's number and the id of its page, because
// a large corpus has too many records to keep these in memory.

// A noted is a row of the temporary file: the number of a record and the ID of its page.
type noted struct {
	Num          uint64
	Page         dedup.Hash // zero if the record left before it was judged
	Words        uint32
	Contaminated bool
}

// keepBest compares all texts of s with each other. If the flags ask for records, it reads the
// inputs again, takes the pages of the records from notes, and writes each record to the file for its
// verdict.
func (d *dedupRun) keepBest(ctx context.Context, s store.Reader, rule dedup.Rule, in *corpus.Inputs, notes *join.Sorter, out *corpusOut) (err error) {
	opt := d.keep.ranking()
	var share atomic.Uint64 // bits of the share of the comparison that is done
	opt.Rule, opt.Memory, opt.Progress = rule, *d.memory, func(done float64) { share.Store(math.Float64bits(done)) }
	err = showWhile(d.con, d.quiet, func() string {
		return fmt.Sprintf("comparing all texts: %.0f%%", 100*math.Float64frombits(share.Load()))
	}, func() (err error) {
		d.whole, err = complete.Judge(ctx, s, opt)
		return err
	})
	switch {
	case err != nil:
		return err
	case opt.Field != "" && d.whole.Ranked() == 0:
		return usagef("--keep %s: no text has the field %q: use first, longest, or a field of the records", d.keep.keep, opt.Field)
	case !d.records.given():
		return nil
	}
	out.size = d.whole.Size
	find, stop := in.Second(ctx)
	defer stop()
	if d.screen != nil {
		d.screen.Again = true
	}
	write := func(one noted) error {
		r, err := find(int(one.Num)) // a record that was unreadable in the first reading has no row
		if err != nil {
			return err
		}
		if one.Contaminated || d.replaced.Has(r) {
			t, err := r.Text(ctx, extract.Options{})
			if err == nil && t.Doc == nil {
				err = corpus.ErrChanged
			}
			if err != nil {
				return err
			}
			var left store.Record
			left.Words, left.Lang = int(one.Words), t.Doc.Lang
			if left.Verdict, err = d.leaving(ctx, r, extract.Options{}, &t); err != nil || left.Verdict != "" {
				return cmp.Or(err, out.take(r, &left))
			}
		}
		pages, err := d.whole.Pages(ctx, []dedup.Hash{one.Page}, store.WantRecord)
		if err != nil {
			return err
		}
		if pages[0] == nil {
			return fmt.Errorf("find the record of %s: %w", r.Place(), store.ErrCorrupt)
		}
		return out.take(r, &pages[0].Record)
	}
	for row, err := range notes.Sorted() {
		var one noted
		if err == nil {
			_, err = binary.Decode(row, binary.BigEndian, &one)
		}
		if err == nil {
			err = write(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readTwice returns an error if any of paths can be read only once, such as standard input or a
// pipe. flag is the flag that needs two readings.
func readTwice(flag string, paths []string) error {
	if slices.Contains(paths, "-") {
		return usagef("%s reads its input twice: specify files instead of -", flag)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return usagef("%s reads its input twice, and %s is not a regular file", flag, path)
		}
	}
	return nil
}

// findReplaced finds the records that later ones with the same names replace.
func (d *dedupRun) findReplaced(ctx context.Context, in *corpus.Inputs, set store.Settings) error {
	again, documents := in.Again(), session.DocumentsOf(set, *d.memory)
	defer documents.Close()
	again.Documents = documents
	return showWhile(d.con, d.quiet, func() string { return "reading the names: " + report.Bytes(again.Read()) }, func() (err error) {
		d.replaced, err = newest.Find(ctx, again, documents, *d.memory)
		return err
	})
}

// leaving returns a verdict for a record that leaves before duplicates are judged.
func (d *dedupRun) leaving(ctx context.Context, r *corpus.Record, ask extract.Options, t *corpus.Text) (dedup.VerdictKind, error) {
	if d.replaced.Has(r) {
		return newest.Verdict, nil
	}
	if d.screen == nil {
		return "", nil
	}
	return d.screen.Record(ctx, r, ask, t)
}
