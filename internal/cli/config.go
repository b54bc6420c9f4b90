package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"skink/base/segment"
	"skink/crawler"
	"skink/crawler/access"
	"skink/extract/selector"
	"skink/frontier"
	"skink/internal/config"
	"skink/internal/output"
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
	file   config.File // zero if no configuration file was read
	stored bool        // whether the file is skink.toml in the folder of the store, not one named by --config
}

func (c *configFlag) String() string { return c.name }
func (c *configFlag) Type() string   { return "string" }
func (c *configFlag) Set(name string) error {
	c.name = name
	return nil
}

// configOf returns the value of --config, or an empty value for a command without that flag.
func configOf(flags *pflag.FlagSet) *configFlag {
	if f := flags.Lookup("config"); f != nil {
		return f.Value.(*configFlag)
	}
	return &configFlag{}
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

// configure sets the flags that the configuration file contains, except those set on the command
// line.
func (c command) configure(flags *pflag.FlagSet) error {
	of := configOf(flags)
	name := of.find(flags)
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("--config %s: the file does not exist", name)
	}
	if err != nil {
		return usageError{Err: err}
	}
	opt := config.Options{Command: c.name, Main: crawlCommand.name, Shared: "store", Flags: map[string]*pflag.FlagSet{c.name: flags}, Host: addHostFlags, Seed: addOwnFlags}
	if of.stored {
		opt.Ignored = "store"
	}
	opt.Suggest = func(word string, names []string) string {
		return didYouMean(word, names, "", "see skink help configuration")
	}
	opt.Invalid = func(err error, flags *pflag.FlagSet) error { return flagError(err, c.name, flags) }
	for _, other := range commands() {
		if flags, _ := other.newFlags(); flags.Lookup("config") != nil && other.name != c.name {
			opt.Flags[other.name] = flags
		}
	}
	file, err := config.Parse(name, text, opt)
	if err != nil {
		return usageError{Err: err}
	}
	of.file = *file
	return nil
}

// segmentsFor returns the segments of the configuration file and the choice of --segment. If wanted is set, there must
// be segments.
func segmentsFor(flags *pflag.FlagSet, wanted bool) (segment.Choice, error) {
	c := segment.Choice{List: configOf(flags).file.Segments, Name: flags.Lookup("segment").Value.String()}
	if !slices.Contains(append(c.Names(), ""), c.Name) || wanted && len(c.List) == 0 {
		if len(c.List) == 0 {
			return c, usagef("no segment is defined: write a section [segments] in skink.toml in the folder of the store, or in the file of --config")
		}
		return c, usagef("the configuration file has no segment %s: its section [segments] defines %s", c.Name, strings.Join(c.Names(), ", "))
	}
	return c, nil
}

// typed reports whether a flag was set on the command line, not by a configuration file.
func typed(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	return f != nil && f.Changed && f.Annotations[config.Source] == nil
}

// keepBeside copies the configuration file into dir, the folder of a store, so that later commands on
// that store use the same configuration. The copy contains no literal secrets. A store on a server gets none.
func (c *configFlag) keepBeside(dir string) error {
	if c.file.Name == "" || c.stored || isShared(dir) {
		return nil
	}
	name := filepath.Join(dir, configFile)
	to, err := os.Stat(name)
	from, fromErr := os.Stat(c.file.Name)
	if err == nil && fromErr == nil && os.SameFile(from, to) {
		return nil
	}
	if err := copyConfigFile(c.file.Name, c.file.Text, dir); err != nil {
		return fmt.Errorf("save the configuration: %w", err)
	}
	return nil
}

// copyConfigFile writes a copy of a configuration file, without literal secrets and comments, into
// dir, the folder of a store.
func copyConfigFile(name string, text []byte, dir string) error {
	copied, err := config.Copy(name, text)
	if err != nil {
		return err
	}
	return output.ReplaceInStore(dir, configFile, copied)
}

// addHostFlags adds a flag for each setting of a host that is also a flag of skink crawl.
func addHostFlags(h *access.Host, flags *pflag.FlagSet) {
	flags.Func("delay", "", func(text string) error {
		h.Delay = new(time.Duration)
		return lasting(h.Delay, 0, "0 or more").Set(text)
	})
	flags.Func("user-agent", "", func(text string) error {
		h.UserAgent = text
		return checkAgent(text)
	})
	for name, to := range map[string]**bool{"logout": &h.Logout, "render-post": &h.Posts} {
		flags.Func(name, "", func(text string) error {
			on := text == "true"
			*to = &on
			if !on && text != "false" {
				return errors.New("must be true or false")
			}
			return nil
		})
	}
	flags.Var(expressions(&h.Include), "include", "")
	flags.Var(expressions(&h.Exclude), "exclude", "")
	flags.Var(whole(&h.PerHost, 1, "1 or more"), "per-host", "")
	flags.Var(rate{&h.Rate}, "max-host-rate", "")
	flags.Var(whole(&h.Pages, 1, "1 or more"), "max-host-pages", "")
	flags.Var(size(&h.Bytes, 1, wantSize), "max-host-bytes", "")
	flags.Var(oneOf(&h.Render, "off", "auto", "always"), "render", "")
	flags.Var(lasting(&h.Wait, 0, "0 or more"), "render-wait", "")
	flags.Func("render-wait-for", "", func(css string) error {
		h.WaitFor = css
		return new(selector.Rules).Add("main", css)
	})
	flags.Var(several(&h.Behaviors, access.Behaviors), "render-behaviors", "")
	flags.Func("ignore-robots", "", func(text string) error {
		h.Robots = strings.TrimSpace(text)
		if h.Robots == "" || h.Robots == "true" || h.Robots == "false" || strings.ContainsFunc(h.Robots, unicode.IsControl) {
			return errors.New("must be the reason, as one line of text, such as \"the owner agreed on 1 May\"")
		}
		return nil
	})
}

// addOwnFlags adds flags for the settings of one seed.
func addOwnFlags(s *access.Seed, flags *pflag.FlagSet) {
	flags.Func("url", "", func(text string) (err error) {
		s.URL, err = frontier.Canonical(text)
		return err
	})
	flags.Var(oneOf(&s.Scope, crawler.ScopeHost, crawler.ScopeDomain, crawler.ScopePrefix, crawler.ScopeAny), "scope", "")
	flags.Var(whole(&s.MaxDepth, 1, "1 or more"), "max-depth", "")
	flags.Var(&number[int]{&s.Priority, "N", parseWhole[int], strconv.Itoa, "a whole number", 0, 7, "0 to 7"}, "priority", "")
	flags.Var(expressions(&s.Include), "include", "")
	flags.Var(expressions(&s.Exclude), "exclude", "")
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
		case len(f.Annotations[config.Source]) > 1: // the configuration file names a secret
			values[i] = access.Secret("").String()
		case f.Name == "proxy" && v != "env" && !frontier.HasScheme(v): // cannot be a proxy, but may contain a password
			values[i] = access.Secret("").String()
		case f.Name != "store" && f.Value.Type() != pattern && frontier.HasScheme(v):
			values[i] = access.Redacted(v)
		}
	}
	return values
}
