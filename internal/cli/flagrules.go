package cli

import (
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/internal/config"
	"skink/report"
)

// # Rules about flags
//
// Each command has a table of rules, which say what flags need or exclude each other. All rules are
// checked before the command runs. A name in a rule stands for a flag that is given: it has a value
// other than its default. NAME=VALUE stands for a flag with this value.

// A flagRule is a rule about two lists of flags, separated by commas.
type flagRule struct {
	flags  string
	verb   verb
	others string
	why    string // explanation at the end of the error; may be ""
}

type verb int

const (
	needs    verb = iota // each of the flags requires one of the others
	modifies             // like needs, but a flag in a configuration file has no effect without the others, and is no error
	excludes             // none of the flags can be used with one of the others
	ignores              // like excludes, but the others in a configuration file have no effect, and are no error
)

func (r flagRule) check(flags *pflag.FlagSet) error {
	others := strings.Split(r.others, ",")
	for name := range strings.SplitSeq(r.flags, ",") {
		if !given(flags, name) || r.verb == modifies && !typed(flags, flagOf(name)) {
			continue
		}
		i := slices.IndexFunc(others, func(other string) bool {
			return given(flags, other) && (r.verb != ignores || typed(flags, flagOf(other)))
		})
		switch requires := r.verb == needs || r.verb == modifies; {
		case requires && i < 0:
			for i, other := range others {
				others[i] = shownFlag(flags, other)
			}
			return usagef("%s requires %s%s", shownFlag(flags, name), strings.Join(others, " or "), r.reason())
		case !requires && i >= 0:
			return usagef("%s and %s cannot be used together%s", shownFlag(flags, name), shownFlag(flags, others[i]), r.reason())
		}
	}
	return nil
}

func (r flagRule) reason() string {
	if r.why == "" {
		return ""
	}
	return ": " + r.why
}

func flagOf(name string) string {
	flag, _, _ := strings.Cut(name, "=")
	return flag
}

func given(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(flagOf(name))
	if _, value, exact := strings.Cut(name, "="); exact {
		return f.Value.String() == value
	}
	return f.Changed && f.Value.String() != f.DefValue
}

// shownFlag returns a flag for an error, with the place in the configuration file that sets it.
func shownFlag(flags *pflag.FlagSet, name string) string {
	shown := "--" + strings.Replace(name, "=", " ", 1)
	if about := flags.Lookup(flagOf(name)).Annotations[config.Source]; about != nil {
		shown += " (" + about[0] + ")"
	}
	return shown
}

// checkUse checks the flags by the rules of the command, and the number of arguments by c.args, in
// which [WORD] may be omitted, and WORD... may be repeated.
func (c command) checkUse(flags *pflag.FlagSet) error {
	for _, r := range c.rules {
		if err := r.check(flags); err != nil {
			return err
		}
	}
	words := strings.Fields(strings.Replace(c.args, "[flags]", "", 1))
	least, most := 0, len(words)
	for _, w := range words {
		if !strings.HasPrefix(w, "[") {
			least++
		}
		if strings.Contains(w, "...") {
			most = math.MaxInt
		}
	}
	switch n := flags.NArg(); {
	case n >= least && n <= most:
		return nil
	case most == 0 && flags.Lookup("store") != nil:
		return usagef("unexpected argument %s: specify a store with --store", brief(flags.Arg(0)))
	case most == 0:
		return usagef("unexpected argument %s", brief(flags.Arg(0)))
	default:
		return usagef("%s needs %s, got %s: try skink %s --help", c.name, strings.Join(words, " "), report.Counted(n, "argument"), c.name)
	}
}
