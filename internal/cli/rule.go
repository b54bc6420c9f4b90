package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/store"
)

// ruleFlags are the flags for judging pages. A new store gets their values, and keeps them.
type ruleFlags struct {
	flags      *pflag.FlagSet
	similarity float64
	shingle    shingleSize
	unit       string
	step       int
	unordered  bool
	form       string
	scheme     string
	minWords   int
	contained  float64 // of skink dedup
	markdown   bool    // of skink crawl
	pictures   bool    // the same
	links      onOff   // of skink crawl

	onDuplicate string // of skink crawl: tag or skip
}

// addOnDuplicateFlag adds --on-duplicate, which a store keeps too.
func (r *ruleFlags) addOnDuplicateFlag(flags *pflag.FlagSet) {
	flags.StringVar(&r.onDuplicate, "on-duplicate", tag, "`tag|skip` keep a duplicate's text and follow its links (tag), or keep only its record (skip)")
}

// The values of --on-duplicate.
const (
	tag  = "tag"
	skip = "skip"
)

func onDuplicate(skips bool) string {
	if skips {
		return skip
	}
	return tag
}

// addLinksFlag adds --links, which is not part of the rule but which a store keeps too.
func (r *ruleFlags) addLinksFlag(flags *pflag.FlagSet) {
	flags.Var(&r.links, "links", "store the links of pages, so that a report can say what links to a URL")
}

// ruleFlagNames are the flags that addRuleFlags, addMarkdownFlags, addLinksFlag and
// addOnDuplicateFlag add: a store keeps their values.
var ruleFlagNames = []string{"similarity", "shingle", "unit", "step", "unordered", "form", "scheme", "min-words", "markdown", "pictures", "links", "on-duplicate"}

func addRuleFlags(flags *pflag.FlagSet) *ruleFlags {
	r := &ruleFlags{flags: flags, links: true, shingle: shingleSize{units: dedup.DefaultShingle}}
	flags.Float64Var(&r.similarity, "similarity", dedup.DefaultSimilarity,
		fmt.Sprintf("least resemblance of a near-duplicate, %.2f to 1", dedup.LeastSimilarity()))
	flags.Var(&r.shingle, "shingle", "words (or --unit) in a shingle")
	flags.StringVar(&r.unit, "unit", string(dedup.Words), "`word|char` unit of a shingle")
	flags.IntVar(&r.step, "step", 1, "units from the start of one shingle to the start of the next, at most --shingle")
	flags.BoolVar(&r.unordered, "unordered", false, "ignore the order of units inside a shingle")
	flags.StringVar(&r.form, "form", dedup.Plain.String(), "`FORM` words to compare: plain, or some of nofunction, noadjectives, singular, stem, joined by commas")
	flags.StringVar(&r.scheme, "scheme", "bands", "`bands|super|mega` how candidates are found")
	flags.IntVar(&r.minWords, "min-words", dedup.DefaultMinWords, "pages with fewer words are thin and are not compared")
	return r
}

// addMarkdownFlags adds the flags for keeping Markdown with each text.
func (r *ruleFlags) addMarkdownFlags() {
	r.flags.BoolVar(&r.markdown, "markdown", false, "store the main text also as Markdown; only when a store is new")
	r.flags.BoolVar(&r.pictures, "pictures", false, "with --markdown: keep pictures")
}

// keeps returns in which form texts are kept as Markdown.
func (r *ruleFlags) keeps() store.Markdown {
	switch {
	case r.markdown && r.pictures:
		return store.WithPictures
	case r.markdown:
		return store.WordsOnly
	}
	return store.NoMarkdown
}

// defaultSettings returns the settings without any flags.
func defaultSettings() store.Settings {
	return addRuleFlags(pflag.NewFlagSet("", pflag.ContinueOnError)).settings()
}

// settings returns the settings of the flags.
func (r *ruleFlags) settings() store.Settings {
	return store.Settings{
		Format:     store.FormatVersion,
		Extractor:  extractorVersion,
		Tokenizer:  dedup.TokenizerVersion,
		Sketch:     dedup.SketchVersion,
		Form:       r.form,
		Unit:       r.unit,
		Shingle:    r.shingle.units,
		Step:       r.step,
		Unordered:  r.unordered,
		Similarity: r.similarity,
		Scheme:     r.scheme,
		MinWords:   r.minWords,
		Contained:  r.contained,
		Markdown:   r.keeps(),
		NoLinks:    !bool(r.links),
		SkipTexts:  r.onDuplicate == skip,
	}
}

// shinglingOf returns the shingling of settings.
func shinglingOf(set store.Settings) dedup.Shingling {
	return dedup.Shingling{Unit: dedup.Unit(set.Unit), K: set.Shingle, Step: set.Step, Unordered: set.Unordered}
}

// A shingleSize is a number of units. For a comparison of two texts it may be auto, which chooses
// it by their length.
type shingleSize struct {
	units     int
	mayBeAuto bool
	auto      bool
}

func (s *shingleSize) String() string {
	if s.auto {
		return "auto"
	}
	return strconv.Itoa(s.units)
}

func (s *shingleSize) Set(text string) error {
	if s.mayBeAuto && text == "auto" {
		s.auto = true
		return nil
	}
	n, err := strconv.Atoi(text)
	s.units, s.auto = n, false
	return err
}

func (s *shingleSize) Type() string { return "int" }

// check refuses values that make no sense.
func check(set store.Settings) (dedup.Rule, error) {
	if err := shinglingOf(set).Check(); err != nil {
		return dedup.Rule{}, usagef("--unit %s --shingle %d --step %d: %w", set.Unit, set.Shingle, set.Step, err)
	}
	form, err := dedup.ParseForm(set.Form)
	if err != nil {
		return dedup.Rule{}, usagef("--form: %w", err)
	}
	if set.MinWords < 0 {
		return dedup.Rule{}, usagef("--min-words %d: try 0 to compare all pages with words", set.MinWords)
	}
	if err := checkSimilarity(set.Similarity); err != nil {
		return dedup.Rule{}, err
	}
	rule, err := dedup.NewRule(set.Similarity, set.Scheme, set.MinWords)
	if err != nil {
		return rule, usageError{err}
	}
	rule.Form, rule.Shingling, rule.Contained = form, shinglingOf(set), set.Contained
	return rule, nil
}

// agree returns the rule and the settings of a store. A new store gets those of the flags. Any
// other store keeps its own, and it is an error if a flag contradicts them.
func (r *ruleFlags) agree(ctx context.Context, s store.Store, name string) (dedup.Rule, store.Settings, error) {
	want := r.settings()
	rule, err := check(want)
	if err != nil {
		return rule, want, err
	}
	has, err := store.ReadSettings(ctx, s)
	if err != nil {
		return rule, want, fmt.Errorf("%s: %w", name, err)
	}
	if has == nil {
		if err = store.WriteSettings(ctx, s, want); errors.Is(err, store.ErrChanged) {
			return r.agree(ctx, s, name) // another worker was faster
		}
		return rule, want, err
	}
	if err := r.contradicts(*has, name); err != nil {
		return rule, want, err
	}
	if r.flags.Changed("rule") && r.contained != has.Contained {
		return rule, want, usagef("--rule and --containment give a share of %v, but %s was created with %v (0: resemblance alone): omit the flags, or choose another --store", r.contained, name, has.Contained)
	}
	if has.Extractor != extractorVersion { // its records can be read, but the same pages would give other texts now
		return rule, want, otherVersion(name, "extractor", has.Extractor, extractorVersion)
	}
	rule, err = ruleOf(*has, name)
	return rule, *has, err
}

// over returns the settings of a store, overridden by the given flags.
func (r *ruleFlags) over(has store.Settings) store.Settings {
	given := r.settings()
	for flag, take := range map[string]func(){
		"similarity": func() { has.Similarity = given.Similarity },
		"shingle":    func() { has.Shingle = given.Shingle },
		"unit":       func() { has.Unit = given.Unit },
		"step":       func() { has.Step = given.Step },
		"unordered":  func() { has.Unordered = given.Unordered },
		"form":       func() { has.Form = given.Form },
		"scheme":     func() { has.Scheme = given.Scheme },
		"min-words":  func() { has.MinWords = given.MinWords },
	} {
		if r.flags.Changed(flag) {
			take()
		}
	}
	return has
}

// ruleOf returns the rule by which a store was judged.
func ruleOf(has store.Settings, name string) (dedup.Rule, error) {
	if err := readable(has, name); err != nil {
		return dedup.Rule{}, err
	}
	return check(has)
}

// contradicts returns an error with the flag whose value differs from the store's.
func (r *ruleFlags) contradicts(has store.Settings, name string) error {
	keeps := onOff(!has.NoLinks)
	for _, f := range []struct {
		flag      string
		given, is any
	}{
		{"similarity", r.similarity, has.Similarity},
		{"shingle", r.shingle.units, has.Shingle},
		{"unit", r.unit, has.Unit},
		{"step", r.step, has.Step},
		{"unordered", r.unordered, has.Unordered},
		{"form", r.form, has.Form},
		{"scheme", r.scheme, has.Scheme},
		{"min-words", r.minWords, has.MinWords},
		{"markdown", r.markdown, has.Markdown != store.NoMarkdown},
		{"pictures", r.pictures, has.Markdown == store.WithPictures},
		{"links", r.links.String(), keeps.String()},
		{"on-duplicate", r.onDuplicate, onDuplicate(has.SkipTexts)},
	} {
		if r.flags.Changed(f.flag) && f.given != f.is {
			return usagef("--%s %v, but %s was created with --%s %v: omit the flag, or choose another --store", f.flag, f.given, name, f.flag, f.is)
		}
	}
	return nil
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
