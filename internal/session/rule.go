package session

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/internal/memory"
	"skink/store"
)

// Wanted holds the settings for judging and storing pages. A new store gets these settings; an
// existing store keeps its own.
type Wanted struct {
	store.Settings
	Insist []string // flags of skink crawl that the user set, which the settings of an existing store must match

	Configured bool // there is a configuration file, so an existing store must have its selectors
	Recrawl    bool // pages are visited again, so a store gets new selectors
}

// Agree returns the rule and the settings of a store. A new store gets the wanted settings. For an
// existing store, Agree fails if its settings differ from those that the user chose
// (wanted.Insist).
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
		if err := MayBegin(ctx, s, name); err != nil {
			return rule, want, err
		}
		if err = store.WriteSettings(ctx, s, want); errors.Is(err, store.ErrChanged) {
			return Agree(ctx, s, name, wanted) // another worker has just written the settings of the new store
		}
		return rule, want, err
	}
	if err := wanted.Fits(*has, name); err != nil {
		return rule, want, err
	}
	rule, err = StoredRule(*has, name)
	switch same := !wanted.Configured || len(want.Selectors)+len(has.Selectors) == 0 || reflect.DeepEqual(want.Selectors, has.Selectors); {
	case err != nil || same:
	case !wanted.Recrawl:
		err = usagef("%s was crawled with other selectors than those in the configuration file (main, drop, fields): visit its pages again with --recrawl, or read their archive into another --store with --from", name)
	default:
		err, has.Selectors, has.Reselected = store.SetSelectors(ctx, s, want.Selectors), want.Selectors, true
	}
	return rule, *has, err
}

// MayBegin returns an error if a store without settings has pages. Its settings are lost, so it is
// unknown how the pages were judged, and no pages may be added that are judged differently.
func MayBegin(ctx context.Context, s store.Store, name string) error {
	set, err := store.ReadSettings(ctx, s)
	if err != nil || set != nil {
		return err
	}
	tally, err := s.Tally(ctx)
	if err != nil || tally.Pages() == 0 {
		return err
	}
	return fmt.Errorf("%s: %w, and its settings are lost: save the remaining pages with skink export, and choose another --store", name, store.ErrCorrupt)
}

// Fits returns an error if a store's settings differ from those that the user chose (w.Insist), or
// if the store's texts come from another version of the extractor.
func (w Wanted) Fits(has store.Settings, name string) error {
	for _, f := range []struct {
		flag      string
		given, is any
	}{
		{"rule", ruleName(w.Contained), ruleName(has.Contained)},
		{"containment", w.Contained, has.Contained},
		{"similarity", w.Similarity, has.Similarity},
		{"shingle", w.Shingle, has.Shingle},
		{"unit", w.Unit, has.Unit},
		{"scheme", w.Scheme, has.Scheme},
		{"min-words", w.MinWords, has.MinWords},
		{"markdown", w.Markdown != store.NoMarkdown, has.Markdown != store.NoMarkdown},
		{"images", w.Markdown == store.WithImages, has.Markdown == store.WithImages},
		{"links", OnOff(!w.NoLinks), OnOff(!has.NoLinks)},
		{"documents", OnOff(w.Documents != 0), OnOff(has.Documents != 0)},
		{"on-duplicate", OnDuplicate(w.SkipTexts), OnDuplicate(has.SkipTexts)},
	} {
		if slices.Contains(w.Insist, f.flag) && f.given != f.is {
			return usagef("--%s %v was given, but %s was created with --%s %v: omit the flag, or choose another --store", f.flag, f.given, name, f.flag, f.is)
		}
	}
	if has.Extractor != extract.Version { // the records are readable, but the same pages would now yield different text
		return otherVersion(name, "extractor", has.Extractor, extract.Version)
	}
	if has.Documents != 0 && has.Documents != document.Version {
		return otherVersion(name, "document reader", has.Documents, document.Version)
	}
	return nil
}

func ruleName(contained float64) string {
	if contained > 0 {
		return "containment"
	}
	return "resemblance"
}

// OnOff returns the value of a flag that is on or off.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Values of the flag --on-duplicate, which selects what the store keeps of a duplicate.
const (
	Tag  = "tag"  // keep both text and record
	Skip = "skip" // keep only the record
)

// OnDuplicate returns the value of --on-duplicate for a store that skips or keeps the text of
// duplicates.
func OnDuplicate(skipTexts bool) string {
	if skipTexts {
		return Skip
	}
	return Tag
}

// DocumentsOf returns a reader of PDF and other documents for a crawl into a store with these
// settings. It returns nil if the settings exclude documents. The argument budget is the memory
// budget of the whole process, in bytes.
func DocumentsOf(set store.Settings, budget int64) *document.Reader {
	if set.Documents == 0 {
		return nil
	}
	return document.NewReader(document.Options{Memory: memory.Divide(budget).Reading / 2})
}

// StoredRule returns the rule by which the pages of an existing store were judged. It fails if
// another version of the program computed the store's values.
func StoredRule(has store.Settings, name string) (dedup.Rule, error) {
	if err := readable(has, name); err != nil {
		return dedup.Rule{}, err
	}
	return RuleOf(has)
}

// RuleOf returns the rule that the settings describe. It fails if a value is invalid.
func RuleOf(set store.Settings) (dedup.Rule, error) {
	if err := ShinglingOf(set).Check(); err != nil {
		return dedup.Rule{}, usagef("--unit %s --shingle %d: %w", set.Unit, set.Shingle, err)
	}
	if set.MinWords < 0 {
		return dedup.Rule{}, usagef("--min-words %d: must be 0 or more; 0 compares all pages with at least one word", set.MinWords)
	}
	rule, err := dedup.NewRule(set.Similarity, set.Scheme, set.MinWords)
	if err != nil {
		return rule, UsageError{err}
	}
	rule.Shingling, rule.Contained = ShinglingOf(set), set.Contained
	return rule, nil
}

// ShinglingOf returns the shingling that the settings describe.
func ShinglingOf(set store.Settings) dedup.Shingling {
	return dedup.Shingling{Unit: dedup.Unit(set.Unit), K: set.Shingle}
}

// readable returns an error if another version of the program computed the values in a store,
// because this version's values cannot be compared with them.
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
