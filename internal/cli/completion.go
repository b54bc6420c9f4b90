package cli

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/internal/session"
	"skink/report"
	"skink/report/audit"
)

// # Completion
//
// A completion script passes the words of the command line to skink __complete, which prints the
// words that may stand at the end, one per line. A tab separates a word from its description. The
// line :files or :folders means that the shell completes names of files or folders. The words are
// not filtered, because each shell has its own way of matching them.

const (
	anyFile   = ":files"
	anyFolder = ":folders"
)

func completionCommand() command {
	return command{
		name:  "completion",
		args:  "SHELL",
		short: "print a completion script for bash, zsh or fish",
		long: `
Prints a script that lets a shell complete commands, flags and values. SHELL is bash, zsh or
fish.

These commands load the completions into the current bash session, install them for zsh, and
install them for fish:

  source <(skink completion bash)
  skink completion zsh > "${fpath[1]}/_skink"
  skink completion fish > ~/.config/fish/completions/skink.fish`,
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, con Console, args []string) error {
				script, err := completionScripts.ReadFile("completion/skink." + args[0])
				if err != nil {
					return usagef("completion: unknown shell %s: must be bash, zsh or fish", brief(args[0]))
				}
				_, err = con.Out.Write(script)
				return err
			}
		},
	}
}

//go:embed completion
var completionScripts embed.FS

// completeWord prints the completions of the last of words, which follow "skink" on a command line.
func completeWord(w io.Writer, words []string) {
	line := strings.NewReplacer("\x00=\x00", "=", "\x00=", "=").Replace(strings.Join(words, "\x00")) // bash makes three words of --flag=value
	for _, found := range completions(strings.Split(line, "\x00")) {
		fmt.Fprintln(w, found)
	}
}

func completions(words []string) (all []string) {
	if len(words) < 2 {
		all = []string{"help\tprint the manual, the help of a command, or a topic", "--help", "--version"}
		for _, c := range commands() {
			all = append(all, c.name+"\t"+c.short)
		}
		return all
	}
	if words[0] == "help" {
		return append(commandNames(), topicNames()...)
	}
	c, ok := commandNamed(words[0])
	if !ok {
		return nil
	}
	flags, _ := c.newFlags()
	if f, prefix := completedFlag(flags, words[1:]); f != nil {
		for _, value := range valuesNamed(valueName(f)) {
			if value != anyFile && value != anyFolder {
				value = prefix + value
			}
			all = append(all, value)
		}
		return all
	}
	if strings.HasPrefix(words[len(words)-1], "-") {
		for _, f := range visible(flags) {
			all = append(all, "--"+f.Name+"\t"+flagText(f))
		}
		return append(all, "--all")
	}
	named := strings.Fields(strings.NewReplacer("[flags]", "", "[", " ", "]", "", "...", "").Replace(c.args))
	if len(named) == 0 {
		return nil
	}
	return valuesNamed(named[min(len(words)-2, len(named)-1)])
}

// completedFlag returns the flag whose value is the last of words, or nil. prefix is what stands
// before the value in that word, such as "--name=".
func completedFlag(flags *pflag.FlagSet, words []string) (f *pflag.Flag, prefix string) {
	name, _, joined := strings.Cut(words[len(words)-1], "=")
	if joined {
		prefix = name + "="
	} else if len(words) > 1 {
		name = words[len(words)-2]
	}
	f = flags.Lookup(strings.TrimPrefix(name, "--"))
	if f == nil || !strings.HasPrefix(name, "--") || !joined && f.NoOptDefVal != "" {
		return nil, ""
	}
	return f, prefix
}

// valuesNamed returns the completions for a value or an argument with the given name in the help
// text, such as "FILE", or for the accepted words, such as "text|json". It returns nil for values
// that cannot be listed, such as numbers.
func valuesNamed(name string) []string {
	switch name {
	case "FILE", "PATH", "PAGE", "SEED", "PAIRS", "A", "B":
		return []string{anyFile}
	case "DIR", "STORE":
		return []string{anyFolder}
	case "COMMAND":
		return commandNames()
	case "SHELL":
		return []string{"bash", "zsh", "fish"}
	case "STATE":
		return append(stateNames(), "all")
	case "STATES":
		words := []string{"all"}
		for _, s := range session.Retried {
			words = append(words, session.NameOf(s))
		}
		return words
	case "FORM":
		return triedForms
	case "PROFILE":
		return strings.Split(profileNames(), ", ")
	case "MEASURE":
		return measureNames()
	case "TOPIC":
		return append([]string{aboutAll, "pages"}, slices.Concat(report.Groupings, audit.Names())...)
	case "KIND":
		return []string{"thin", "ai-train=no", "ai-input=no", "search=no"}
	case "AGE":
		return []string{"due"}
	}
	if strings.Contains(name, "|") {
		return strings.Split(name, "|")
	}
	return nil
}

func stateNames() (names []string) {
	for _, s := range session.States {
		names = append(names, s.Name)
	}
	return names
}

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

func topicNames() (names []string) {
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}
