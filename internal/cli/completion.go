package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/internal/session"
	"skink/report/audit"
)

// # Completion
//
// A completion script lists all commands and flags, and the values that a flag accepts. writeBash,
// writeZsh and writeFish generate it from the flag sets of the commands. The script contains all
// words, so completing does not run skink.

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
				write, ok := map[string]func(io.Writer, []suggestions){"bash": writeBash, "zsh": writeZsh, "fish": writeFish}[args[0]]
				if !ok {
					return usagef("completion: unknown shell %s: must be bash, zsh or fish", brief(args[0]))
				}
				write(con.Out, allSuggestions())
				return nil
			}
		},
	}
}

// A suggestion holds the completions at one position on a command line: words, files, or folders.
// The zero value offers nothing; it is for values that cannot be listed, such as numbers.
type suggestion struct {
	words   []string
	files   bool
	folders bool
}

type suggestions struct {
	command
	flags []flagSuggestion
	args  suggestion
}

type flagSuggestion struct {
	*pflag.Flag
	value suggestion
}

// takesNext reports whether the value of the flag is the next word, as in "--top 5". A flag with an
// optional value accepts it only as "--name=value".
func (f flagSuggestion) takesNext() bool { return f.NoOptDefVal == "" }

func (f flagSuggestion) repeats() bool {
	_, repeats := f.Value.(pflag.SliceValue)
	return repeats
}

func allSuggestions() (all []suggestions) {
	helped := suggestion{words: append(commandNames(), topicNames()...)}
	all = append(all, suggestions{command: command{name: "help", short: "print the manual, the help of a command, or a topic"}, args: helped})
	for _, c := range commands() {
		flags, _ := c.newFlags()
		cc := suggestions{command: c}
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				cc.flags = append(cc.flags, flagSuggestion{f, suggestionOf(valueName(f))})
			}
		})
		switch {
		case c.name == "completion":
			cc.args.words = []string{"bash", "zsh", "fish"}
		case c.name == "config":
			cc.args.words = commandNames()
		case c.name == "man":
			cc.args.folders = true
		case c.name == "store":
			cc.args.words = storeVerbs
		case strings.Trim(c.args, "[flags] ") != "":
			cc.args.files = true
		}
		all = append(all, cc)
	}
	return all
}

// suggestionOf returns the completions for the value of a flag. value is the name of that value in
// the help text, such as "FILE", or the accepted words, such as "text|json".
func suggestionOf(value string) suggestion {
	switch value {
	case "FILE", "PATH":
		return suggestion{files: true}
	case "DIR", "STORE":
		return suggestion{folders: true}
	case "STATE":
		return suggestion{words: append(stateNames(), "all")}
	case "STATES":
		words := []string{"all"}
		for _, s := range session.Retried {
			words = append(words, session.NameOf(s))
		}
		return suggestion{words: words}
	case "FORM":
		return suggestion{words: triedForms}
	case "PROFILE":
		return suggestion{words: strings.Split(profileNames(), ", ")}
	case "MEASURE":
		return suggestion{words: measureNames()}
	case "TOPIC":
		return suggestion{words: append([]string{aboutAll, "pages"}, audit.Names()...)}
	case "KIND":
		return suggestion{words: []string{"thin", "ai-train=no", "ai-input=no", "search=no"}}
	case "AGE":
		return suggestion{words: []string{"due"}}
	}
	if strings.Contains(value, "|") {
		return suggestion{words: strings.Split(value, "|")}
	}
	return suggestion{}
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

func writeBash(w io.Writer, all []suggestions) {
	fmt.Fprint(w, `# bash completion for skink. Load it with: source <(skink completion bash)

_skink() {
	local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words='' files=''
	COMPREPLY=()
	if [[ $current == '=' ]]; then # bash splits --flag=value into three words
		current='' before+='='
	elif [[ $before == '=' ]]; then
		before=${COMP_WORDS[COMP_CWORD-2]}=
	fi
	if ((COMP_CWORD == 1)); then
`)
	names := []string{"--help", "--version"}
	for _, c := range all {
		names = append(names, c.name)
	}
	fmt.Fprintf(w, "\t\twords=%s\n\telse\n\t\tcase \"$command $before\" in\n", bashWords(names))
	for _, c := range all {
		for _, f := range c.flags {
			if valueName(f.Flag) == "" {
				continue
			}
			pattern := fmt.Sprintf("'%s --%s='", c.name, f.Name)
			if f.takesNext() {
				pattern += fmt.Sprintf(" | '%s --%s'", c.name, f.Name)
			}
			fmt.Fprintf(w, "\t\t%s) %s ;;\n", pattern, f.value.bash())
		}
	}
	fmt.Fprint(w, "\t\t*) case \"$command $current\" in\n")
	for _, c := range all {
		var flags []string
		for _, f := range c.flags {
			flags = append(flags, "--"+f.Name)
		}
		if slices.Contains(flags, "--help") {
			flags = append(flags, "--all")
		}
		slices.Sort(flags)
		if flags = slices.Compact(flags); len(flags) > 0 {
			fmt.Fprintf(w, "\t\t\t'%s -'*) words=%s ;;\n", c.name, bashWords(flags))
		}
		fmt.Fprintf(w, "\t\t\t'%s '*) %s ;;\n", c.name, c.args.bash())
	}
	fmt.Fprint(w, `			esac ;;
		esac
	fi
	case $files in
	files) COMPREPLY=($(compgen -f -- "$current")) ;;
	folders) COMPREPLY=($(compgen -d -- "$current")) ;;
	*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
	esac
	[[ -z $files ]] || compopt -o filenames 2>/dev/null
}

complete -F _skink skink
`)
}

// bash returns the bash statement that sets the variable words or files in the generated script.
func (c suggestion) bash() string {
	switch {
	case c.files:
		return "files=files"
	case c.folders:
		return "files=folders"
	case len(c.words) > 0:
		return "words=" + bashWords(c.words)
	}
	return ":"
}

func bashWords(words []string) string { return "$'" + strings.Join(words, `\n`) + "'" }

func writeZsh(w io.Writer, all []suggestions) {
	fmt.Fprint(w, "#compdef skink\n# zsh completion for skink. Write it to a file _skink in a folder of $fpath.\n\n_skink() {\n\tlocal -a commands=(\n")
	for _, c := range all {
		fmt.Fprintf(w, "\t\t%s\n", shellQuoted(c.name+":"+c.short))
	}
	fmt.Fprint(w, "\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tshift words\n\t((CURRENT--))\n\tcase $words[1] in\n")
	for _, c := range all {
		fmt.Fprintf(w, "\t%s)\n\t\t_arguments", c.name)
		for _, f := range c.flags {
			fmt.Fprintf(w, " \\\n\t\t\t%s", shellQuoted(f.zsh()))
		}
		fmt.Fprintf(w, " \\\n\t\t\t%s\n\t\t;;\n", shellQuoted("*:argument:"+c.args.zsh()))
	}
	fmt.Fprint(w, "\tesac\n}\n\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n\t_skink \"$@\"\nelse\n\tcompdef _skink skink\nfi\n")
}

// zsh returns the specification of the flag for _arguments, the completion function of zsh.
func (f flagSuggestion) zsh() string {
	text := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(flagText(f.Flag))
	spec := "--" + f.Name
	value := valueName(f.Flag)
	switch {
	case value != "" && f.takesNext():
		spec += "="
	case value != "":
		spec += "=-"
	}
	spec += "[" + text + "]"
	if value != "" {
		spec += ":" + strings.ReplaceAll(value, ":", `\:`) + ":" + f.value.zsh()
	}
	if f.repeats() {
		spec = "*" + spec
	}
	return spec
}

func (c suggestion) zsh() string {
	switch {
	case c.files:
		return "_files"
	case c.folders:
		return "_files -/"
	case len(c.words) > 0:
		return "(" + strings.Join(c.words, " ") + ")"
	}
	return " "
}

func writeFish(w io.Writer, all []suggestions) {
	fmt.Fprint(w, "# fish completion for skink. Write it to ~/.config/fish/completions/skink.fish.\n\ncomplete -c skink -f\n")
	for _, c := range all {
		fmt.Fprintf(w, "complete -c skink -n __fish_use_subcommand -a %s -d %s\n", c.name, shellQuoted(c.short))
	}
	for _, c := range all {
		seen := shellQuoted("__fish_seen_subcommand_from " + c.name)
		if argument := c.args.fish(); argument != "" {
			fmt.Fprintf(w, "complete -c skink -n %s%s\n", seen, argument)
		}
		for _, f := range c.flags {
			line := fmt.Sprintf("complete -c skink -n %s -l %s", seen, f.Name)
			if f.Shorthand != "" {
				line += " -s " + f.Shorthand
			}
			if valueName(f.Flag) != "" && f.takesNext() {
				line += " -r"
			}
			if valueName(f.Flag) != "" {
				line += f.value.fish()
			}
			fmt.Fprintf(w, "%s -d %s\n", line, shellQuoted(strings.ReplaceAll(flagText(f.Flag), `\`, `\\`)))
		}
	}
}

func (c suggestion) fish() string {
	switch {
	case c.files:
		return " -F"
	case c.folders:
		return " -a '(__fish_complete_directories)'"
	case len(c.words) > 0:
		return " -a " + shellQuoted(strings.Join(c.words, " "))
	}
	return ""
}

// shellQuoted quotes a word for bash, zsh and fish.
func shellQuoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
