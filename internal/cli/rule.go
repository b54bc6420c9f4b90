package cli

import (
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/document"
	"skink/internal/session"
	"skink/store"
)

// ruleFlags are the flags that determine how pages are judged and stored. A store keeps their
// values from its first run, and uses them in all later runs.
type ruleFlags struct {
	flags       *pflag.FlagSet
	set         store.Settings
	rule        string  // byResemblance or byContainment
	containment float64 // used only if rule is byContainment
	markdown    bool    // only skink crawl has this flag
	images      bool    // only skink crawl has this flag
	links       bool    // only skink crawl has this flag
	onDuplicate string  // only skink crawl has this flag
	documents   bool    // only skink crawl and skink dedup have this flag
}

// Values of --rule, and the default of --containment.
const (
	byResemblance = "resemblance"
	byContainment = "containment"

	defaultContainment = 0.95
)

func (r *ruleFlags) addDocumentsFlag(flags *pflag.FlagSet, on bool) {
	r.documents = on
	flags.Var(onOff{&r.documents}, "documents", "also read the text of PDF, DOCX and EPUB files")
}

// ruleRules are the rules about the flags of addRuleFlags.
var ruleRules = []flagRule{
	{"containment", modifies, "rule=containment", ""},
}

// ruleFlagNames are the names of all flags in ruleFlags. The store keeps their values, so the
// command that continues a crawl need not repeat them.
var ruleFlagNames = []string{"rule", "containment", "similarity", "shingle", "unit", "scheme", "min-words", "markdown", "images", "links", "documents", "on-duplicate"}

func addRuleFlags(flags *pflag.FlagSet) *ruleFlags {
	r := &ruleFlags{flags: flags, links: true, set: session.DefaultSettings(), rule: byResemblance, containment: defaultContainment, onDuplicate: session.Tag}
	set := &r.set
	flags.Var(similarity(&set.Similarity), "similarity",
		fmt.Sprintf("treat two pages as near-duplicates if their resemblance is at least this number, from %.2f to 1", dedup.MinSimilarity()))
	flags.Var(oneOf(&r.rule, byResemblance, byContainment), "rule", "treat a page as a duplicate if an earlier page resembles it (resemblance) or contains nearly all of it (containment)")
	flags.Var(ratio(&r.containment, math.SmallestNonzeroFloat64, "a number above 0 and at most 1"), "containment", "with --rule containment: an earlier page must contain at least this share (up to 1) of a page's three-word runs")
	flags.Var(whole(&set.Shingle, math.MinInt, ""), "shingle", "compare pages by runs of this many words or characters (shingles)")
	flags.Var(oneOf(&set.Unit, string(dedup.Words), string(dedup.Chars)), "unit", "compare pages by runs of words (word) or runs of characters (char)")
	flags.Var(oneOf(&set.Scheme, "bands", "super", "mega"), "scheme", "use MinHash bands (bands), super-shingles (super) or mega-shingles (mega) to choose the pairs of pages to compare")
	flags.Var(whole(&set.MinWords, 0, "0 or more; 0 compares every page with at least one word"), "min-words", "do not compare pages with fewer words than this; they get the verdict thin")
	return r
}

func (r *ruleFlags) keeps() store.Markdown {
	switch {
	case r.markdown && r.images:
		return store.WithImages
	case r.markdown:
		return store.WordsOnly
	}
	return store.NoMarkdown
}

func (r *ruleFlags) settings() store.Settings {
	set := r.set
	set.Markdown, set.NoLinks, set.SkipTexts = r.keeps(), !r.links, r.onDuplicate == session.Skip
	if r.rule == byContainment {
		set.Contained = r.containment
	}
	if r.documents {
		set.Documents = document.Version
	}
	return set
}

// wanted returns the settings from the flags, and the names of the flags that were set. A crawl
// refuses a store that has other values for these flags.
func (r *ruleFlags) wanted() session.Wanted {
	w := session.Wanted{Settings: r.settings()}
	r.flags.Visit(func(f *pflag.Flag) { w.Insist = append(w.Insist, f.Name) })
	return w
}

// over returns the settings of a store, overridden by each flag that was set.
func (r *ruleFlags) over(has store.Settings) store.Settings {
	given := r.settings()
	for flag, take := range map[string]func(){
		"rule":       func() { has.Contained = given.Contained },
		"similarity": func() { has.Similarity = given.Similarity },
		"shingle":    func() { has.Shingle = given.Shingle },
		"unit":       func() { has.Unit = given.Unit },
		"scheme":     func() { has.Scheme = given.Scheme },
		"min-words":  func() { has.MinWords = given.MinWords },
	} {
		if r.flags.Changed(flag) {
			take()
		}
	}
	return has
}
