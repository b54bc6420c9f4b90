package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/internal/session"
)

// asTyped returns a flag with its value, or with each of its values, as a user would type it in a shell.
func asTyped(f *pflag.Flag) (all []string) {
	for _, v := range printed(f) {
		text := "--" + f.Name + " " + harmless.Quoted(v)
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			text = strings.TrimSuffix("--"+f.Name+"="+harmless.Quoted(v), "="+f.NoOptDefVal)
		}
		if f.Value.Type() == "bool" {
			text = strings.TrimSuffix("--"+f.Name+"="+v, "=true")
		}
		all = append(all, text)
	}
	return all
}

// resume returns a command line that continues a crawl. It repeats the flags whose values the store
// does not keep, such as those for scope, politeness and output. It omits the seeds, and the limit
// that stopped the crawl. It also omits --retry and --recrawl once the URLs that they selected are
// in the frontier again.
func (f *crawlFlags) resume(end session.Ending) string {
	words := []string{"skink crawl"}
	f.rule.flags.Visit(func(g *pflag.Flag) {
		kept := slices.Contains(ruleFlagNames, g.Name) || g.Name == "add" || g.Name == "prefer" // whether the store keeps the value of the flag
		stopped := strings.HasPrefix(end.Limit, "--"+g.Name+" ") || end.Spent > 0 && (g.Name == "max-host-pages" || g.Name == "max-host-bytes")
		back := end.Over() && !f.opt.Forever && (g.Name == "retry" || strings.HasPrefix(g.Name, "recrawl"))
		if typed(f.rule.flags, g.Name) && !kept && !stopped && !back { // the next command reads the configuration file, too
			words = append(words, asTyped(g)...)
		}
	})
	if strings.HasPrefix(end.Limit, "--max-pages ") && !typed(f.rule.flags, "max-pages") {
		words = append(words, "--max-pages 0") // the configuration file sets the limit, which the store has reached
	}
	return strings.Join(words, " ")
}
