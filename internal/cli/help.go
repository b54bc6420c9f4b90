package cli

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
	"github.com/spf13/pflag"

	"skink/docs"
	"skink/feed"
	"skink/report"
)

// # Help
//
// The help of a command is generated from the command,
// its flag set and the headings in flagGroups. The usage text of a flag may begin with the name of
// its value in back quotes, such as `FILE` or `text|json`.

// helpAsked reports whether args contain --help or -h, and whether they ask for all details with
// --all.
func helpAsked(args []string) (asked, all bool) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	asked = slices.Contains(args, "--help") || slices.Contains(args, "-h")
	return asked, asked && slices.Contains(args, "--all")
}

// newFlags returns a new flag set for the command, and a function that runs the command with the
// values parsed into that flag set.
func (c command) newFlags() (*pflag.FlagSet, runFunc) {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {}
	body := c.setup(flags)
	if flags.HasFlags() && c.name != "store" { // a configuration file must not set --yes
		flags.Var(&configFlag{}, "config", "`FILE` read flag values and host settings from this file (default: skink.toml in the folder of the store, if it exists)")
	}
	flags.BoolP("help", "h", false, "print this help")
	return flags, body
}

func (c command) usageLine() string { return strings.TrimSpace("skink " + c.name + " " + c.args) }

// The text on each command is in a file with its name, which can be edited without knowing Go. A line
// of three dashes precedes the details, which only --help --all prints.
//
//go:embed help/*.txt
var helpTexts embed.FS

// texts returns the text that the help of a command begins with, and the details for --all.
func (c command) texts() (long, more string) {
	file, _ := helpTexts.ReadFile("help/" + c.name + ".txt") // TestHelpExamples misses the example of a command without a file
	text := strings.Replace(string(file), "{states}", termLines(report.URLStates()), 1)
	long, more, _ = strings.Cut(text, "---\n")
	return strings.TrimSpace(long), strings.TrimSpace(more)
}

func (c command) printHelp(w io.Writer, all bool) {
	flags, _ := c.newFlags()
	long, more := c.texts()
	fmt.Fprintf(w, "%s\n\n%s\n", c.usageLine(), long)
	if all && more != "" {
		fmt.Fprintf(w, "\n%s\n", more)
	}
	groups := c.groups(flags)
	width := 0
	for _, g := range groups {
		for _, f := range g.shown(flags, all) {
			width = max(width, len(flagColumn(f)))
		}
	}
	for _, g := range groups {
		shown := g.shown(flags, all)
		if len(shown) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", g.heading)
		if g.example != "" {
			fmt.Fprintf(w, "  Example: %s\n", g.example)
		}
		for _, f := range shown {
			fmt.Fprintf(w, "%-*s   %s\n", width, flagColumn(f), flagText(f))
		}
	}
	if count := len(visible(flags)); !all && (more != "" || len(groups) > 1) {
		fmt.Fprintf(w, "\nskink %s --help --all prints all %d flags and the details.\n", c.name, count)
	}
}

// visible returns the flags that help lists.
func visible(flags *pflag.FlagSet) (all []*pflag.Flag) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f)
		}
	})
	return all
}

// shown returns the flags of the section that the help prints: all of them, or only the most used
// ones if all is false.
func (g flagGroup) shown(flags *pflag.FlagSet, all bool) (shown []*pflag.Flag) {
	names := g.common
	if all {
		names = slices.Concat(g.common, g.rare)
	}
	for _, name := range names {
		if f := flags.Lookup(name); f != nil && !f.Hidden {
			shown = append(shown, f)
		}
	}
	return shown
}

// flagColumn returns a flag as shown in the first column of the help, such as "-q, --quiet" or
// "--store STORE".
func flagColumn(f *pflag.Flag) string {
	short := "    "
	if f.Shorthand != "" {
		short = "-" + f.Shorthand + ", "
	}
	value, _ := pflag.UnquoteUsage(f) // if only some words are accepted, these, such as "text|json"
	switch {
	case value == "":
		return "  " + short + "--" + f.Name
	case f.NoOptDefVal != "":
		return "  " + short + "--" + f.Name + "[=" + value + "]"
	}
	return "  " + short + "--" + f.Name + " " + value
}

func flagText(f *pflag.Flag) string {
	name, text := pflag.UnquoteUsage(f)
	if strings.HasPrefix(f.Usage, "`") {
		text = strings.TrimPrefix(text, name+" ")
	}
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return text
	}
	return fmt.Sprintf("%s (default %s)", text, strings.Trim(f.DefValue, "[]"))
}

func printManual(w io.Writer) {
	fmt.Fprint(w, "skink crawls web sites and finds duplicate and near-duplicate pages.\n\nCommands:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  skink %-28s %s\n", c.name+" "+c.args, c.short)
	}
	fmt.Fprintf(w, "\nskink COMMAND --help explains a command. skink help TOPIC prints a page of the manual:\n\n")
	for _, t := range topics() {
		fmt.Fprintf(w, "  %-16s %s\n", t.name, t.title)
	}
	fmt.Fprint(w, "\nExit codes:\n\n")
	for _, e := range exitCodes {
		fmt.Fprintf(w, "  %3d  %s\n", e.code, e.meaning)
	}
	fmt.Fprint(w, "\nThe first Ctrl-C ends a crawl when the pages in flight are finished, and the second ends it at once.\nIn both cases, the same command continues the crawl. To try skink without a network, crawl a folder\nof HTML files:\n\n  skink crawl testdata/site\n")
}

var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitDone, "done"},
	{exitFailed, "the command failed or was interrupted"},
	{exitUsage, "the command line has an error"},
	{exitDiffers, "compare --check: the pages are not duplicates"},
	{exitFound, "report --fail-on: a limit was exceeded"},
	{exitUnheard, "the program reading the output has exited"},
}

type topic struct{ name, title string }

// topics returns the topics of the manual: one for each file in docs, and the generated ones.
func topics() (all []topic) {
	names, _ := fs.Glob(docs.Pages, "*.md") // the only possible error is a malformed pattern
	for _, name := range names {
		text, _ := fs.ReadFile(docs.Pages, name)
		first, _, _ := strings.Cut(string(text), "\n")
		all = append(all, topic{strings.TrimSuffix(name, ".md"), strings.TrimSpace(strings.TrimLeft(first, "#"))})
	}
	return append(all, topic{glossary, "Words for the states of URLs and pages"}, topic{schema, "The fields of a feed"})
}

// glossary is the topic that explains the words for states of URLs and pages. It is generated from
// the terms in package store.
const glossary = "glossary"

const schema = "schema"

type glossaryPart struct {
	heading string
	terms   []report.Term
}

func glossaryParts() []glossaryPart {
	return []glossaryPart{
		{"States of URLs (status, summary, report, metrics)", report.URLStates()},
		{"Verdicts on pages (report, export, view)", report.Verdicts()},
		{"Results of visits to known URLs (--recrawl, --retry)", report.VisitResults()},
	}
}

func termLines(terms []report.Term) string {
	width := 12
	for _, t := range terms {
		width = max(width, len(t.Name))
	}
	var lines []string
	for _, t := range terms {
		lines = append(lines, fmt.Sprintf("  %-*s  %s", width, t.Name, t.Meaning))
	}
	return strings.Join(lines, "\n")
}

// picture matches a Markdown image in a page of the manual. Images are removed before printing,
// because terminals cannot show them.
var picture = regexp.MustCompile(`(?m)^!\[.*\]\(.*\)\n\n?`)

func help(w io.Writer, args []string) error {
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if len(words) == 0 {
		printManual(w)
		return nil
	}
	name := words[0]
	if c, ok := commandNamed(name); ok {
		c.printHelp(w, slices.Contains(args, "--all"))
		return nil
	}
	if name == glossary {
		for _, part := range glossaryParts() {
			fmt.Fprintf(w, "%s:\n\n%s\n\n", part.heading, termLines(part.terms))
		}
		fmt.Fprint(w, "A cluster is a set of pages with the same or nearly the same text. Its leader is the page that an\nindex should keep; the others are its duplicates.\n")
		return nil
	}
	text := feed.Schema
	if name != schema {
		page, err := fs.ReadFile(docs.Pages, name+".md")
		if err != nil {
			names := slices.Concat([]string{"help"}, commandNames(), namesOf(topics(), func(t topic) string { return t.name }))
			return usagef("help: unknown command or topic %s: %s", brief(name), didYouMean(name, names, "", "try skink help"))
		}
		text = string(page)
	}
	_, err := io.WriteString(w, picture.ReplaceAllString(text, ""))
	return err
}

// namesOf returns the name of each value.
func namesOf[T any](all []T, name func(T) string) (names []string) {
	for _, v := range all {
		names = append(names, name(v))
	}
	return names
}

func commandNames() []string { return namesOf(commands(), func(c command) string { return c.name }) }

// didYouMean returns "did you mean NAME?" with the name that is most similar to word, or fallback
// if no name is similar. dashes is put before the name, and is "--" for flags.
func didYouMean(word string, names []string, dashes, fallback string) string {
	if name := nearest(word, names); name != "" {
		return "did you mean " + dashes + name + "?"
	}
	return fallback
}

// nearest returns the name that word probably misspells, or of which it misspells a part between dashes, such as
// max-pages for pages. If there is none, it returns "".
func nearest(word string, names []string) string {
	best, most := "", float32(.84) // Jaro-Winkler similarity
	for _, name := range names {
		for _, part := range append(strings.Split(name, "-"), name) {
			if s := edlib.JaroWinklerSimilarity(strings.ToLower(word), part); s > most || s == most && len(name) < len(best) {
				best, most = name, s
			}
		}
	}
	return best
}

// flagError returns an error that names the values a flag accepts. err is the error from pflag,
// which names only the function that failed to parse the value.
func flagError(err error, command string, flags *pflag.FlagSet) error {
	more := "try skink " + command + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		names := namesOf(visible(flags), func(f *pflag.Flag) string { return f.Name })
		return fmt.Errorf("%w: %s", err, didYouMean(unknown.GetSpecifiedName(), names, "--", more))
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return fmt.Errorf("%w: %s", err, more)
	}
	name, value, why := invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap()
	if invalid.GetFlag().Value.Type() == "bool" {
		why = errors.New("must be true or false")
	}
	return fmt.Errorf("--%s %q: %w", name, value, why)
}
