package cli

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"slices"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/internal/complete"
	"skink/internal/corpus"
	"skink/internal/output"
	"skink/internal/session"
	"skink/store"
	"skink/store/badger"
	"skink/store/overlay"
)

type keepFlags struct {
	keep    string
	against []string
}

const (
	keepFirstText   = "first"
	keepLongestText = "longest"
)

func addKeepFlags(flags *pflag.FlagSet) *keepFlags {
	f := &keepFlags{keep: keepFirstText}
	flags.Var(oneOf(&f.keep, keepFirstText, keepLongestText), "keep", "keep the first or the longest text of each cluster; with longest, every text is compared with all others")
	flags.StringArrayVar(&f.against, "against", nil, "`DIR` also drop texts that duplicate a text in this store; the store is not changed (repeatable)")
	return f
}

func (f *keepFlags) longest() bool { return f.keep == keepLongestText }

// over calls do with s and the stores of --against from the given one on, with whose texts the
// inputs are compared. It also passes the settings of these stores, because the inputs are judged by
// the same rule.
func (d *dedupRun) over(ctx context.Context, s store.Store, from int, do func(store.Store, *store.Settings) error) (err error) {
	known, set, err := d.openKnown(ctx, d.keep.against[from])
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, known.Close()) }()
	if from == 0 {
		return do(overlay.New(s, known), &set)
	}
	return d.over(ctx, overlay.New(s, known), from-1, func(s store.Store, first *store.Settings) error {
		has := *first
		has.Selectors, has.Reselected = set.Selectors, set.Reselected // texts of other hosts may have other selectors
		if !reflect.DeepEqual(has, set) {
			return usagef("--against: %s and %s were created with different settings, so texts cannot be compared with both: run skink dedup once for each", d.keep.against[0], d.keep.against[from])
		}
		return do(s, first)
	})
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
	rule, err := session.StoredRule(*known, d.keep.against[0])
	if err != nil {
		return rule, *known, err
	}
	return rule, *known, store.WriteSettings(ctx, s, *known)
}

// # Keeping the longest text
//
// The longest text of a cluster is known only after all texts have been read. So if records must be
// written, the corpus is read twice: first to judge the records, then to write them. Between the
// two passes, a temporary file holds each record's number and the id of its page, because a large
// corpus has too many records to keep these in memory.

// A noted is an entry of the temporary file: the number of a judged record and the ID of its page.
type noted struct {
	Num  uint64
	Page dedup.Hash
}

// notes is the temporary file that maps records to pages, in reading order.
type notes struct {
	file *os.File
	done func() error // closes and removes the file
	out  *bufio.Writer
}

func newNotes() (*notes, error) {
	f, done, err := output.Temporary("skink-notes-")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	return &notes{f, done, bufio.NewWriter(f)}, nil
}

func (n *notes) close() error { return n.done() }

func (n *notes) take(r *corpus.Record, page *store.Record) error {
	return binary.Write(n.out, binary.LittleEndian, noted{uint64(r.Num), page.ID})
}

func (n *notes) each(do func(noted) error) error {
	if err := n.out.Flush(); err != nil {
		return err
	}
	if _, err := n.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(n.file)
	for {
		var one noted
		switch err := binary.Read(in, binary.LittleEndian, &one); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := do(one); err != nil {
			return err
		}
	}
}

// keepLongest compares all texts of s with each other. If the flags ask for records, it reads the
// inputs again, takes the pages of the records from n, and writes each record to the file for its
// verdict.
func (d *dedupRun) keepLongest(ctx context.Context, s store.Reader, rule dedup.Rule, in *corpus.Inputs, n *notes, out *corpusOut) (err error) {
	d.whole, err = complete.Judge(ctx, s, complete.Options{Rule: rule, Longest: true, Memory: *d.memory})
	if err != nil || !d.records.given() {
		return err
	}
	next, stop := iter.Pull2(in.Again().Records(ctx))
	defer stop()
	return n.each(func(one noted) error {
		for {
			r, err, more := next()
			if err != nil {
				return err
			}
			if !more || uint64(r.Num) > one.Num {
				return errors.New("the files have changed since skink dedup first read them: do not change files while it is running")
			}
			if uint64(r.Num) < one.Num {
				continue // it was unreadable in the first reading, and has no entry
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
	})
}

// readTwice returns an error if any of paths can be read only once, such as standard input or a
// pipe.
func readTwice(paths []string) error {
	if slices.Contains(paths, "-") {
		return usagef("--keep longest reads its input twice: specify files instead of -")
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return usagef("--keep longest reads its input twice, and %s is not a regular file", path)
		}
	}
	return nil
}
