// Package config reads configuration files. A file is TOML. It contains flags of the main command
// under their long names, and sections for the other commands and for hosts or groups of hosts:
//
//	delay = "500ms"
//	[report]
//	format = "json"
//	[host."*.example.org"]
//	headers = { "X-Token" = "${TOKEN}" }
//
// Start with [Parse], which sets the flags of the running command. The package does not define
// commands or flags: its caller passes those that exist. Errors name the file and the line, and
// never contain a secret.
package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/pflag"

	"skink/crawler/access"
)

// A File is a configuration file.
type File struct {
	Name     string
	Text     []byte   // content of the file, unchanged
	Read     []string // names of the files that the file names and that were read
	Hosts    access.Table
	Settings []Setting // settings of hosts for printing
}

// A Setting is a setting of a host, for printing.
type Setting struct {
	Host, Key string
	Value     string // TOML value; "***" for a secret
	Line      int
}

// Options defines the commands and flags that a file may contain.
type Options struct {
	Command string                                       // running command
	Main    string                                       // command whose flags are set above all sections, and which uses the sections of hosts
	Shared  string                                       // flag that is set above all sections and applies to all commands
	Ignored string                                       // flag that the file must not set; may be empty
	Flags   map[string]*pflag.FlagSet                    // flags of each command; those of the running command are set
	Host    func(h *access.Host, flags *pflag.FlagSet)   // adds flags for the settings of a host that are also flags
	Invalid func(err error, flags *pflag.FlagSet) error  // explains an error of setting a flag
	Suggest func(word string, names []string) (s string) // returns a suggestion for the end of an error about an unknown name
	Getenv  func(name string) (value string, set bool)   // looks up an environment variable; nil means [os.LookupEnv]
}

// Source is the annotation of a flag whose value comes from a file. Its first string is the place
// where the value was set, such as "skink.toml:12". A second string, "secret", is present if the
// value contains a substitution ${...}. Such a value must not be printed.
const Source = "configured"

// Parse parses the text of a file, and sets the flags of the running command that the command line
// does not set. It fails at the first error. Paths in the file are relative to its folder, or to
// the folder that [Copy] names.
func Parse(name string, text []byte, opt Options) (*File, error) {
	if opt.Getenv == nil {
		opt.Getenv = os.LookupEnv
	}
	p := &parser{file: &File{Name: name, Text: text}, opt: opt}
	p.dir, p.copied = origin(name, text)
	entries, err := scan(name, text)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := p.take(e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, e.line, err)
		}
	}
	if len(p.lacking) > 0 {
		return nil, fmt.Errorf("%s: a store keeps no secrets, so this copy lacks %s: name the original file with --config FILE", name, strings.Join(p.lacking, ", "))
	}
	for _, s := range p.sections {
		if key, err := s.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, s.lines[key], err)
		}
		p.file.Hosts = append(p.file.Hosts, s.host)
		p.file.Settings = append(p.file.Settings, s.settings...)
	}
	return p.file, nil
}

type parser struct {
	file     *File
	opt      Options
	dir      string // folder to which paths in the file are relative
	sections []*section

	copied  bool     // whether the file is a copy, which lacks secrets
	lacking []string // keys of the secrets that the running command needs, and that the copy lacks
}

// lacks reports whether an entry of a copy lacks a secret, and records its key.
func (p *parser) lacks(e entry) bool {
	if !p.copied || !slices.ContainsFunc(e.values, func(v value) bool { return v.text == absent }) {
		return false
	}
	p.lacking = append(p.lacking, strings.Join(e.path, " "))
	return true
}

func (p *parser) unknown(word string, names []string) error {
	if more := p.opt.Suggest(word, names); more != "" {
		return fmt.Errorf("unknown key %q: %s", word, more)
	}
	return fmt.Errorf("unknown key %q", word)
}

// names returns the flags that a file may set.
func names(flags *pflag.FlagSet) (all []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "config" {
			all = append(all, f.Name)
		}
	})
	return all
}

func (p *parser) take(e entry) error {
	first, main := e.path[0], names(p.opt.Flags[p.opt.Main])
	flags := p.opt.Flags[first]
	switch {
	case first == "host":
		return p.host(e)
	case slices.Contains(main, first) && (flags == nil || !e.section()):
		return p.flag(p.opt.Main, e, 1)
	case flags == nil:
		return p.unknown(first, slices.Concat(main, slices.Sorted(maps.Keys(p.opt.Flags)), []string{"host"}))
	case !e.section():
		return fmt.Errorf("%s is a command: put its flags in a section, [%s]", first, first)
	case len(e.path) > 1 && !slices.Contains(names(flags), e.path[1]):
		return p.unknown(e.path[1], names(flags))
	case len(e.path) > 1:
		return p.flag(first, e, 2)
	}
	return nil
}

// flag sets a flag of the running command, whose name is the last of the first depth keys. It does
// nothing if the entry is for another command, or if the command line sets the flag.
func (p *parser) flag(command string, e entry, depth int) error {
	name, flags := e.path[depth-1], p.opt.Flags[p.opt.Command]
	f := flags.Lookup(name)
	shared := command == p.opt.Main && name == p.opt.Shared
	switch {
	case len(e.path) > depth || e.table:
		return notScalar(name)
	case command != p.opt.Command && !shared, f == nil, name == p.opt.Ignored, f.Changed && f.Annotations[Source] == nil, p.lacks(e):
		return nil
	}
	filled, err := p.set(flags, name, e)
	if err != nil {
		return err
	}
	from := []string{fmt.Sprintf("%s:%d", p.file.Name, e.line)}
	if filled {
		from = append(from, "secret")
	}
	return flags.SetAnnotation(name, Source, from)
}

// set sets a flag to the value of an entry, or, if the value is an array, once to each element. It
// reports whether the value contains a substitution.
func (p *parser) set(flags *pflag.FlagSet, name string, e entry) (filled bool, err error) {
	f := flags.Lookup(name)
	if _, repeats := f.Value.(pflag.SliceValue); e.array && !repeats {
		return false, fmt.Errorf("%s: takes one value, not an array", name)
	}
	for _, v := range e.values {
		if !v.scalar() {
			return false, notScalar(name)
		}
		text, err := p.fill(v.text)
		if err != nil {
			return false, err
		}
		secret := text != v.text
		filled = filled || secret
		switch {
		case v.kind == unstable.Bool && f.Value.Type() == "on|off":
			text = map[string]string{"true": "on", "false": "off"}[text]
		case v.kind == unstable.Bool && f.Value.Type() != "bool" && f.NoOptDefVal != "":
			if text == "false" {
				continue
			}
			text = f.NoOptDefVal
		}
		switch err := flags.Set(name, text); {
		case err != nil && secret:
			return false, fmt.Errorf("%s: the value of the variable is not valid", name)
		case err != nil:
			return false, p.opt.Invalid(err, flags)
		}
	}
	return filled, nil
}

func notScalar(name string) error {
	return fmt.Errorf("%s: must be a string, a number, a Boolean, or an array of these", name)
}

// texts returns the strings of an entry with their variables replaced.
func (p *parser) texts(e entry) (all []string, err error) {
	for _, v := range e.values {
		if v.kind != unstable.String {
			return nil, fmt.Errorf("%s: must be a string", e.key())
		}
		filled, err := p.fill(v.text)
		if err != nil {
			return nil, err
		}
		all = append(all, filled)
	}
	return all, nil
}

// text is like texts for an entry with one value.
func (p *parser) text(e entry) (string, error) {
	if e.array || e.table {
		return "", fmt.Errorf("%s: must be a string", e.key())
	}
	all, err := p.texts(e)
	return strings.Join(all, ""), err
}
