package cli

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/store"
	"skink/store/badger"
)

// keepFlags say which of several similar texts is kept, and which of them may be dropped for it.
type keepFlags struct {
	flags       *pflag.FlagSet
	keep, rule  string
	containment float64
	against     string
}

const (
	keepFirstText   = "first"
	keepLongestText = "longest"
	byResemblance   = "resemblance"
	byContainment   = "containment"

	defaultContainment = 0.95
)

func addKeepFlags(flags *pflag.FlagSet) *keepFlags {
	f := &keepFlags{flags: flags}
	flags.StringVar(&f.keep, "keep", keepFirstText, "which text of a cluster is kept: first, or longest, for which all are judged against all others")
	flags.StringVar(&f.rule, "rule", byResemblance, "when a text is a near-duplicate: by resemblance alone, or by containment, too, if nearly all it says is in the text that is kept")
	flags.Float64Var(&f.containment, "containment", defaultContainment, "with --rule containment, the share of a text's runs of three words that must be in the text that is kept, above 0 to 1")
	flags.StringVar(&f.against, "against", "", "folder of a store to judge against, which is not written to: its texts come before all others")
	return f
}

// longest says whether the texts are judged as a whole, the longest of each cluster leading.
func (f *keepFlags) longest() bool { return f.keep == keepLongestText }

func (f *keepFlags) check(d *dedupFlags) error {
	switch {
	case f.keep != keepFirstText && f.keep != keepLongestText:
		return usagef("--keep %q: try first or longest", f.keep)
	case f.rule != byResemblance && f.rule != byContainment:
		return usagef("--rule %q: try resemblance or containment", f.rule)
	case !(f.containment > 0 && f.containment <= 1):
		return usagef("--containment %v: try a share above 0, up to 1", f.containment)
	case f.flags.Changed("containment") && f.rule != byContainment:
		return usagef("--containment adds to --rule containment: give both")
	case f.rule == byContainment && f.flags.Changed("form"):
		return usagef("--rule containment holds texts against each other as they are: leave --form out")
	case f.longest() && d.store != "":
		return usagef("--keep longest judges a corpus as a whole, and --store keeps what was judged in its order: leave one out")
	case f.longest() && d.pairs:
		return usagef("--pairs keeps and drops nothing: leave --keep out")
	case f.against != "" && d.store != "":
		return usagef("--against judges against a store and leaves it as it is, and --store adds to one: leave one out")
	case f.against != "" && (d.pairs || f.longest()):
		return usagef("--against judges each text in its order: leave --pairs and --keep longest out")
	}
	return nil
}

// contained is the share of a dropped text that must be in the kept one.
func (f *keepFlags) contained() float64 {
	if f.rule == byContainment {
		return f.containment
	}
	return 0
}

// openKnown opens the store to judge against. Its rule judges the new texts too.
func (d *dedupRun) openKnown(ctx context.Context) (*badger.Store, store.Settings, error) {
	s, err := open(d.keep.against, badger.Options{ReadOnly: true})
	if err != nil {
		return nil, store.Settings{}, err
	}
	set, err := d.settingsOf(ctx, s)
	if err != nil {
		return nil, set, errors.Join(err, s.Close())
	}
	warn(d.con.Err, s.Loss())
	return s, set, nil
}

// settingsOf are the settings of the store to judge against. Flags that contradict them are an
// error.
func (d *dedupRun) settingsOf(ctx context.Context, s store.Reader) (store.Settings, error) {
	set, err := storedSettings(ctx, s)
	if err != nil {
		return set, err
	}
	if err := d.rule.contradicts(set, d.keep.against); err != nil {
		return set, err
	}
	if set.Extractor != extractorVersion {
		return set, otherVersion(d.keep.against, "extractor", set.Extractor, extractorVersion)
	}
	if d.keep.contained() > 0 {
		set.Contained = d.keep.contained()
	}
	return set, nil
}

// agree settles the rule for a store: that of the texts it holds, or that of the store it is judged
// against.
func (d *dedupRun) agree(ctx context.Context, s store.Store, name string, known *store.Settings) (dedup.Rule, error) {
	if known == nil {
		return d.rule.agree(ctx, s, name)
	}
	rule, err := ruleOf(*known, d.keep.against)
	if err != nil {
		return rule, err
	}
	return rule, store.WriteSettings(ctx, s, *known)
}
