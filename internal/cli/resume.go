package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/internal/session"
)

// A givenFlag is a flag set on the command line. text is the flag with its value as a user would
// type it in a shell.
type givenFlag struct{ name, text string }

// givenFlags returns the flags set on the command line, without those from a configuration file.
func givenFlags(flags *pflag.FlagSet) (all []givenFlag) {
	flags.Visit(func(f *pflag.Flag) {
		if !typed(flags, f.Name) {
			return // set by the configuration file, which the next command reads too
		}
		for _, v := range printed(f) {
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

// resume returns a command line that continues a crawl. It repeats the flags whose values the store
// does not keep, such as those for scope, politeness and output. It omits the seeds, and the limit
// that stopped the crawl. It also omits --retry and --recrawl once the URLs that they selected are
// in the frontier again.
func (f *crawlFlags) resume(end session.Ending) string {
	words := []string{"skink crawl"}
	for _, g := range givenFlags(f.rule.flags) {
		kept := slices.Contains(ruleFlagNames, g.name) || g.name == "add" || g.name == "prefer" // whether the store keeps the value of the flag
		stopped := strings.HasPrefix(end.Limit, "--"+g.name+" ") || end.Spent > 0 && (g.name == "max-host-pages" || g.name == "max-host-bytes")
		back := end.Over() && !f.opt.Forever && (g.name == "retry" || strings.HasPrefix(g.name, "recrawl"))
		if !kept && !stopped && !back {
			words = append(words, g.text)
		}
	}
	if strings.HasPrefix(end.Limit, "--max-pages ") && !typed(f.rule.flags, "max-pages") {
		words = append(words, "--max-pages 0") // the configuration file sets the limit, which the store has reached
	}
	return strings.Join(words, " ")
}
