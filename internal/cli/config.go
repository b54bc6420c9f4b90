package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler/access"
	"skink/internal/config"
	"skink/internal/harmless"
	"skink/internal/output"
	"skink/internal/session"
)

// # Configuration
//
// A configuration file sets flags that the command line does not set, and contains settings for
// individual hosts. The flag --config names the file. Without it, the file is skink.toml in the
// folder of the store, where skink crawl keeps a copy of the file it was started with.

const configFile = "skink.toml"

// A configFlag is the value of --config. It contains the configuration file once configure has read
// it.
type configFlag struct {
	name   string
	file   *config.File // nil means that no configuration file was read
	stored bool         // whether the file is skink.toml in the folder of the store, not one named by --config
}

func (c *configFlag) String() string { return c.name }
func (c *configFlag) Type() string   { return "string" }
func (c *configFlag) Set(name string) error {
	c.name = name
	return nil
}

func addConfigFlag(flags *pflag.FlagSet) {
	flags.Var(&configFlag{}, "config", "`FILE` read flag values and host settings from this file (default: skink.toml in the folder of the store, if it exists)")
}

// configOf returns the value of --config, or an empty value for a command without that flag.
func configOf(flags *pflag.FlagSet) *configFlag {
	if f := flags.Lookup("config"); f != nil {
		return f.Value.(*configFlag)
	}
	return &configFlag{}
}

// hosts returns the settings for individual hosts in the configuration file, or nil if there is no
// file.
func (c *configFlag) hosts() access.Table {
	if c.file == nil {
		return nil
	}
	return c.file.Hosts
}

// read returns the names of the configuration file and of the files that it names, or nil if there
// is no file.
func (c *configFlag) read() []string {
	if c.file == nil {
		return nil
	}
	return append(c.file.Read, c.file.Name)
}

// find returns the name of the configuration file to read: the value of --config, or skink.toml in
// the folder of --store if that file exists, or "".
func (c *configFlag) find(flags *pflag.FlagSet) string {
	if flags.Changed("config") {
		return c.name
	}
	f := flags.Lookup("store")
	if f == nil || f.Value.String() == "" || isShared(f.Value.String()) {
		return ""
	}
	name := filepath.Join(f.Value.String(), configFile)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	c.stored = true
	return name
}

// configured is the annotation of a flag whose value comes from the configuration file. Its first
// string is the place where the value was set, such as "skink.toml:12". A second string, "secret",
// is present if the value must not be printed.
const configured = "configured"

// configure sets the flags that the configuration file contains, except those set on the command
// line.
func (c command) configure(flags *pflag.FlagSet) error {
	of := configOf(flags)
	name := of.find(flags)
	if name == "" {
		return nil
	}
	opt := config.Options{Command: c.name, Main: crawlCommand.name, Shared: "store", Flags: flagNames(), Suggest: suggestKey}
	opt.Ignored = func(flag string) bool {
		return flags.Lookup(flag) == nil || of.stored && flag == "store" || flags.Changed(flag)
	}
	if c.name == "crawl" {
		opt.Host = func(h *access.Host) config.Setter { return newHostFlags(h) }
	}
	file, err := config.Read(name, opt)
	if errors.Is(err, fs.ErrNotExist) && file == nil {
		return usagef("--config %s: the file does not exist", name)
	}
	if err != nil {
		return usageError{Err: err}
	}
	of.file = file
	for _, f := range file.Flags {
		if err := applyFlag(flags, c.name, f); err != nil {
			return usagef("%s:%d: %w", name, f.Line, err)
		}
		about := []string{fmt.Sprintf("%s:%d", name, f.Line)}
		if f.Filled {
			about = append(about, "secret")
		}
		if err := flags.SetAnnotation(f.Name, configured, about); err != nil {
			return err
		}
	}
	return nil
}

// applyFlag sets a flag to its value in a configuration file, or, if there are several values, once
// to each of them.
func applyFlag(flags *pflag.FlagSet, command string, f config.Flag) error {
	flag := flags.Lookup(f.Name)
	if _, repeats := flag.Value.(pflag.SliceValue); f.List && !repeats {
		return fmt.Errorf("--%s takes one value, not an array", f.Name)
	}
	for _, v := range f.Values {
		switch {
		case f.Bool && flag.Value.Type() == "on|off":
			v = map[string]string{"true": "on", "false": "off"}[v]
		case f.Bool && flag.Value.Type() != "bool" && flag.NoOptDefVal != "":
			if v == "false" {
				continue
			}
			v = flag.NoOptDefVal
		}
		if err := flags.Set(f.Name, v); err != nil {
			if f.Filled {
				return fmt.Errorf("--%s: the value from the environment variable is not valid", f.Name)
			}
			return flagError(err, command, flags)
		}
	}
	return nil
}

// flagNames returns the flags that a configuration file may set, by command.
func flagNames() map[string][]string {
	names := map[string][]string{}
	for _, c := range commands() {
		flags, _ := c.newFlags()
		if flags.Lookup("config") == nil {
			continue
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && f.Name != "config" {
				names[c.name] = append(names[c.name], f.Name)
			}
		})
	}
	return names
}

func suggestKey(word string, names []string) string {
	return didYouMean(word, names, "", "see skink config --help")
}

// typed reports whether a flag was set on the command line, not by a configuration file.
func typed(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	return f != nil && f.Changed && f.Annotations[configured] == nil
}

// keepIn copies the configuration file into dir, the folder of a store, so that later commands on
// that store use the same configuration. The copy contains no literal secrets.
func (c *configFlag) keepIn(dir string) error {
	if c.file == nil || c.stored {
		return nil
	}
	name := filepath.Join(dir, configFile)
	to, err := os.Stat(name)
	from, fromErr := os.Stat(c.file.Name)
	if err == nil && fromErr == nil && os.SameFile(from, to) {
		return nil
	}
	if err := output.ReplaceInStore(dir, configFile, c.file.Copy()); err != nil {
		return fmt.Errorf("save the configuration: %w", err)
	}
	return nil
}

// hostFlags parses the settings of one host in a configuration file. It has a flag for each setting
// that is allowed there.
type hostFlags struct {
	h                *access.Host
	flags            *pflag.FlagSet
	delay            time.Duration
	include, exclude expressions
}

func newHostFlags(h *access.Host) *hostFlags {
	f := &hostFlags{h: h, flags: pflag.NewFlagSet("host", pflag.ContinueOnError)}
	f.flags.Var(lasting(&f.delay, 0, "0 or more"), "delay", "")
	f.flags.Var(whole(&h.PerHost, 1, "1 or more"), "per-host", "")
	f.flags.StringVar(&h.UserAgent, "user-agent", "", "")
	f.flags.Var(&f.include, "include", "")
	f.flags.Var(&f.exclude, "exclude", "")
	f.flags.Var(whole(&h.Pages, 1, "1 or more"), "max-host-pages", "")
	f.flags.Var(size(&h.Bytes, 1, wantSize), "max-host-bytes", "")
	f.flags.Var(oneOf(&h.Render, "off", "auto", "always"), "render", "")
	return f
}

// Set parses value as the value of the named flag, and stores the result in the host's settings.
func (f *hostFlags) Set(name, value string) error {
	if err := f.flags.Set(name, value); err != nil {
		return flagError(err, "crawl", f.flags)
	}
	switch name {
	case "delay":
		f.h.Delay = &f.delay
	case "include":
		f.h.Include = f.include.compiled
	case "exclude":
		f.h.Exclude = f.exclude.compiled
	case "user-agent":
		return checkAgent(value)
	}
	return nil
}

func configCommand() command {
	return command{
		name:  "config",
		args:  "[flags] [COMMAND]",
		short: "print the settings that a command would use",
		long: `
Prints the settings of a command (by default, of skink crawl) as TOML: the values of its
flags and, for skink crawl, the settings for hosts. A comment names the source of each value:
the command line, a line of the configuration file, or the default. Secrets are printed as
***. Put the flags of COMMAND after --.

These commands print the settings of a crawl, and the settings of a report with the flag --top:

  skink config --config skink.toml
  skink config --store docs report -- --top 5`,
		setup: func(flags *pflag.FlagSet) runFunc {
			flags.String("store", session.DefaultStore, "`STORE` read the configuration file in the folder of this store")
			return func(_ context.Context, con Console, args []string) error { return runConfig(con, flags, args) }
		},
	}
}

func runConfig(con Console, own *pflag.FlagSet, args []string) error {
	name := "crawl"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	i := slices.IndexFunc(commands(), func(c command) bool { return c.name == name })
	if i < 0 {
		return usagef("config: unknown command %s: %s", brief(name), didYouMean(name, commandNames(), "", "try skink help"))
	}
	c := commands()[i]
	flags, _ := c.newFlags()
	if flags.Lookup("config") == nil {
		return usagef("config: skink %s has no settings", name)
	}
	for _, shared := range []string{"config", "store"} {
		if own.Changed(shared) && flags.Lookup(shared) != nil {
			args = append([]string{"--" + shared + "=" + own.Lookup(shared).Value.String()}, args...)
		}
	}
	if err := flags.Parse(args); err != nil {
		return usagef("%s: %w", name, flagError(err, name, flags))
	}
	if flags.NArg() > 0 {
		return usagef("config: unexpected argument %s: write -- before the flags of %s", brief(flags.Arg(0)), name)
	}
	if err := c.configure(flags); err != nil {
		return err
	}
	fmt.Fprintf(con.Out, "# skink %s\n", name)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "config" {
			printSetting(con, f)
		}
	})
	if file := configOf(flags).file; file != nil && c.name == "crawl" {
		host := ""
		for _, s := range file.Settings {
			if s.Host != host {
				host = s.Host
				fmt.Fprintf(con.Out, "\n[host.%s]\n", quoted(host))
			}
			fmt.Fprintf(con.Out, "%s = %s # %s:%d\n", s.Key, s.Value, harmless.Quoted(file.Name), s.Line)
		}
	}
	return nil
}

// printed returns the values of a flag for printing. All output that shows the value of a flag gets
// it from printed, which replaces secrets by ***.
func printed(f *pflag.Flag) []string {
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = slices.Clone(list.GetSlice())
	}
	for i, v := range values {
		switch {
		case len(f.Annotations[configured]) > 1: // the configuration file names a secret
			values[i] = access.Secret("").String()
		case f.Name == "store":
			values[i] = withoutPassword(v)
		case f.Name == "proxy" && v != "env":
			values[i] = shownProxy(v)
		}
	}
	return values
}

func shownProxy(text string) string {
	if p, err := access.ParseProxy(text); err == nil {
		return p.String()
	}
	return access.Secret("").String()
}

// printSetting prints the value of a flag as a line of TOML, with a comment about where the value
// comes from. It prints nothing for a flag without a value.
func printSetting(con Console, f *pflag.Flag) {
	values := printed(f)
	from := "default"
	about := f.Annotations[configured]
	switch {
	case len(about) > 0:
		from = about[0]
	case f.Changed:
		from = "command line"
	}
	_, repeats := f.Value.(pflag.SliceValue)
	value := strings.Join(values, "")
	switch {
	case repeats:
		for i, v := range values {
			values[i] = quoted(v)
		}
		value = "[" + strings.Join(values, ", ") + "]"
	case value == "":
		return
	case !slices.Contains([]string{"bool", "int", "int64", "float64"}, f.Value.Type()):
		value = quoted(value)
	}
	if value != "[]" {
		fmt.Fprintf(con.Out, "%s = %s # %s\n", f.Name, value, from)
	}
}

func quoted(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\'' || r == 0x7f }) && strings.ContainsAny(text, `"\`) {
		return "'" + text + "'"
	}
	return strconv.Quote(text)
}
