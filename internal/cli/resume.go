package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/internal/harmless"
	"skink/internal/session"
)

// A givenFlag is a flag of the command line in the form in which it can be typed again.
type givenFlag struct{ name, text string }

// givenFlags returns the flags of a command line, in order. Those of a configuration file are left
// out.
func givenFlags(flags *pflag.FlagSet) (all []givenFlag) {
	flags.Visit(func(f *pflag.Flag) {
		if !typed(flags, f.Name) {
			return // of the configuration, which is read again
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if f.Name == "store" {
				v = withoutPassword(v)
			}
			text := "--" + f.Name + " " + harmless.Quoted(v)
			if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
				text = strings.TrimSuffix("--"+f.Name+"="+harmless.Quoted(v), "="+f.NoOptDefVal)
			}
			if f.Value.Type() == "bool" {
				text = strings.TrimSuffix("--"+f.Name+"="+v, "=true")
			}
			all = append(all, givenFlag{f.Name, text})
		}
	})
	return all
}

// resume returns the command that continues a crawl. The store keeps the seeds and the rule. It
// does not keep the scope, the politeness and the outputs, so these flags are repeated: without
// them the crawl would differ. The flag that stopped the crawl is omitted. So are the flags that
// put URLs back, after all of them were put back.
func (f *crawlFlags) resume(end session.Ending) string {
	words := []string{"skink crawl"}
	for _, g := range givenFlags(f.rule.flags) {
		kept := slices.Contains(ruleFlagNames, g.name) || g.name == "add" || g.name == "prefer" // the store keeps their values
		stopped := strings.HasPrefix(end.Limit, "--"+g.name+" ") || end.Spent > 0 && (g.name == "max-host-pages" || g.name == "max-host-bytes")
		back := end.Over() && (g.name == "retry" || strings.HasPrefix(g.name, "recrawl"))
		if !kept && !stopped && !back {
			words = append(words, g.text)
		}
	}
	return strings.Join(words, " ")
}
