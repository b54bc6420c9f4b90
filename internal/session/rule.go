package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/internal/memory"
	"skink/store"
)

// Wanted says how pages are to be judged and kept. A new store gets the settings. Any other store
// keeps its own.
type Wanted struct {
	store.Settings
	Insist []string // settings that a store must have, named as the flags of skink crawl
}

// Agree returns the rule and the settings of a store: those that are wanted, if the store is new. It
// fails if the store has other settings than those that the user insists on.
func Agree(ctx context.Context, s store.Store, name string, wanted Wanted) (dedup.Rule, store.Settings, error) {
	want := wanted.Settings
	rule, err := RuleOf(want)
	if err != nil {
		return rule, want, err
	}
	has, err := store.ReadSettings(ctx, s)
	if err != nil {
		return rule, want, fmt.Errorf("%s: %w", name, err)
	}
	if has == nil {
		if err = store.WriteSettings(ctx, s, want); errors.Is(err, store.ErrChanged) {
			return Agree(ctx, s, name, wanted) // another worker was faster
		}
		return rule, want, err
	}
	if slices.Contains(wanted.Insist, "rule") && want.Contained != has.Contained {
		return rule, want, usagef("--rule and --containment give a share of %v, but %s was created with %v (0: resemblance alone): omit the flags, or choose another --store", want.Contained, name, has.Contained)
	}
	if err := wanted.Fits(*has, name); err != nil {
		return rule, want, err
	}
	rule, err = StoredRule(*has, name)
	return rule, *has, err
}

// Fits returns an error if a store's settings differ from those that the user insists on, or if the
// store's texts were extracted by another version.
func (w Wanted) Fits(has store.Settings, name string) error {
	for _, f := range []struct {
		flag      string
		given, is any
	}{
		{"similarity", w.Similarity, has.Similarity},
		{"shingle", w.Shingle, has.Shingle},
		{"unit", w.Unit, has.Unit},
		{"form", w.Form, has.Form},
		{"scheme", w.Scheme, has.Scheme},
		{"min-words", w.MinWords, has.MinWords},
		{"markdown", w.Markdown != store.NoMarkdown, has.Markdown != store.NoMarkdown},
		{"pictures", w.Markdown == store.WithPictures, has.Markdown == store.WithPictures},
		{"links", onOff(!w.NoLinks), onOff(!has.NoLinks)},
		{"documents", onOff(w.Documents != 0), onOff(has.Documents != 0)},
		{"on-duplicate", OnDuplicate(w.SkipTexts), OnDuplicate(has.SkipTexts)},
	} {
		if slices.Contains(w.Insist, f.flag) && f.given != f.is {
			return usagef("--%s %v, but %s was created with --%s %v: omit the flag, or choose another --store", f.flag, f.given, name, f.flag, f.is)
		}
	}
	if has.Extractor != extract.Version { // its records can be read, but the same pages would give other texts now
		return otherVersion(name, "extractor", has.Extractor, extract.Version)
	}
	if has.Documents != 0 && has.Documents != document.Version {
		return otherVersion(name, "document reader", has.Documents, document.Version)
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Values of --on-duplicate: the parts of a duplicate that a store keeps.
const (
	Tag  = "tag"  // their texts
	Skip = "skip" // only their records
)

// OnDuplicate returns the name of what a store keeps of duplicates.
func OnDuplicate(skipTexts bool) string {
	if skipTexts {
		return Skip
	}
	return Tag
}

// DocumentsOf returns the reader of documents for a store with these settings, or nil if the store
// has no text of documents. budget is the memory of the process, in bytes.
func DocumentsOf(set store.Settings, budget int64) *document.Reader {
	if set.Documents == 0 {
		return nil
	}
	return document.NewReader(document.Options{Memory: memory.Divide(budget).Reading / 2})
}

// StoredRule returns the rule by which a store was judged.
func StoredRule(has store.Settings, name string) (dedup.Rule, error) {
	if err := readable(has, name); err != nil {
		return dedup.Rule{}, err
	}
	return RuleOf(has)
}

// RuleOf returns the rule of settings. It refuses values that make no sense.
func RuleOf(set store.Settings) (dedup.Rule, error) {
	if err := ShinglingOf(set).Check(); err != nil {
		return dedup.Rule{}, usagef("--unit %s --shingle %d: %w", set.Unit, set.Shingle, err)
	}
	form, err := dedup.ParseForm(set.Form)
	if err != nil {
		return dedup.Rule{}, usagef("--form: %w", err)
	}
	if set.MinWords < 0 {
		return dedup.Rule{}, usagef("--min-words %d: try 0 to compare all pages with words", set.MinWords)
	}
	rule, err := dedup.NewRule(set.Similarity, set.Scheme, set.MinWords)
	if err != nil {
		return rule, UsageError{err}
	}
	rule.Form, rule.Shingling, rule.Contained = form, ShinglingOf(set), set.Contained
	return rule, nil
}

// ShinglingOf returns the shingling of settings.
func ShinglingOf(set store.Settings) dedup.Shingling {
	return dedup.Shingling{Unit: dedup.Unit(set.Unit), K: set.Shingle}
}

// readable refuses a store whose values another version computed, because they are not comparable.
func readable(has store.Settings, name string) error {
	for _, v := range []struct {
		what    string
		has, is int
	}{
		{"format", has.Format, store.FormatVersion},
		{"tokenizer", has.Tokenizer, dedup.TokenizerVersion},
		{"sketch", has.Sketch, dedup.SketchVersion},
	} {
		if v.has != v.is {
			return otherVersion(name, v.what, v.has, v.is)
		}
	}
	return nil
}

func otherVersion(name, what string, has, is int) error {
	return fmt.Errorf("%s was written by another version of skink (%s version %d, this one has %d): use that version, or choose another --store", name, what, has, is)
}
