// Package config reads configuration files. A file is TOML. It contains flags of the main command
// under their long names, and sections for the other commands, for single seeds, for hosts
// or groups of hosts, and for segments of sites:
//
//	delay = "500ms"
//	[report]
//	format = "json"
//	[[seed]]
//	url = "https://example.org/docs/"
//	scope = "prefix"
//	[host."*.example.org"]
//	headers = { "X-Token" = "${TOKEN}" }
//	[segments]
//	docs = "^/docs/"
//
// Start with [Parse], which sets the flags of the running command. The package does not define
// commands or flags: its caller passes those that exist. Errors name the file and the line, and
// never contain a secret.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"skink/base/segment"
	"skink/crawler/access"
)

// A File is a configuration file.
type File struct {
	Name  string
	Text  []byte   // content of the file, unchanged
	Read  []string // names of the files that the file names and that were read
	Hosts access.Table
	Seeds []access.Seed // seeds with settings of their own

	Segments segment.List
}

// Options defines the commands and flags that a file may contain.
type Options struct {
	Command string                                       // running command
	Main    string                                       // command whose flags are set above all sections, and which uses the sections of hosts
	Shared  string                                       // flag that is set above all sections and applies to all commands
	Ignored string                                       // flag that the file must not set; may be empty
	Flags   map[string]*pflag.FlagSet                    // flags of each command; those of the running command are set
	Host    func(h *access.Host, flags *pflag.FlagSet)   // adds flags for the settings of a host that are also flags
	Seed    func(s *access.Seed, flags *pflag.FlagSet)   // adds flags for the settings of a seed
	Invalid func(err error, flags *pflag.FlagSet) error  // explains an error of setting a flag
	Suggest func(word string, names []string) (s string) // returns a suggestion for the end of an error about an unknown name
}

// Source is the annotation of a flag whose value comes from a file. Its first string is the place
// where the value was set, such as "skink.toml:12". A second string, "secret", is present if the
// value contains a substitution ${...}. Such a value must not be printed.
const Source = "configured"

// Parse parses the text of a file, and sets the flags of the running command that the command line
// does not set. It fails at the first error. Paths in the file are relative to its folder, or to
// the folder that [Copy] names.
func Parse(name string, text []byte, opt Options) (*File, error) {
	p := &parser{file: &File{Name: name, Text: text}, opt: opt}
	p.dir, p.copied = origin(name, text)
	settings, err := unmarshal(name, text)
	if err != nil {
		return nil, err
	}
	p.lines = linesOf(text)
	if err := p.each(nil, settings, p.take); err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	if len(p.lacking) > 0 {
		return nil, fmt.Errorf("%s: a store keeps no secrets, so this copy lacks %s: name the original file with --config FILE", name, strings.Join(p.lacking, ", "))
	}
	return p.file, nil
}

type parser struct {
	file  *File
	opt   Options
	dir   string // folder to which paths in the file are relative
	lines places // place of each key; see lineOf

	copied  bool     // whether the file is a copy, which lacks secrets
	lacking []string // keys of the secrets that the running command needs, and that the copy lacks
}

// A table is a TOML table.
type table = map[string]any

// An atLine is an error with the line to which it applies.
type atLine struct {
	line int
	error
}

func (e atLine) Error() string { return fmt.Sprintf("%d: %v", e.line, e.error) }
func (e atLine) Unwrap() error { return e.error }

// at adds the line of a key to an error that has no line yet.
func (p *parser) at(path []string, err error) error {
	if err == nil || errors.As(err, new(atLine)) {
		return err
	}
	return atLine{p.lineOf(path), err}
}

// keys returns the keys of the table at path, in the order of the file.
func (p *parser) keys(path []string, t table) []string {
	place := func(key string) int { return p.lines[joined(append(slices.Clone(path), key))].Offset }
	return slices.SortedFunc(maps.Keys(t), func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
}

// each calls take with the path and the value of each key of the table at path, in the order of their lines.
// It adds the line to an error.
func (p *parser) each(path []string, t table, take func(path []string, v any) error) error {
	for _, key := range p.keys(path, t) {
		below := append(slices.Clone(path), key)
		if err := take(below, t[key]); err != nil {
			return p.at(below, err)
		}
	}
	return nil
}

// lacks reports whether a value in a copy lacks a secret, and records the keys of such secrets.
func (p *parser) lacks(path []string, v any) (lacking bool) {
	if t, ok := v.(table); ok {
		for _, key := range p.keys(path, t) {
			lacking = p.lacks(append(slices.Clone(path), key), t[key]) || lacking
		}
		return lacking
	}
	if !p.copied || !slices.Contains(elements(v), any(absent)) {
		return false
	}
	p.lacking = append(p.lacking, strings.Join(path, " "))
	return true
}

// checkKey returns an error if the last key of a path is none of the known ones.
func (p *parser) checkKey(path, known []string) error {
	word := path[len(path)-1]
	if slices.Contains(known, word) {
		return nil
	}
	if more := p.opt.Suggest(word, known); more != "" {
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

// take takes a value or a section from the top of the file.
func (p *parser) take(path []string, v any) error {
	key := path[0]
	main, flags := names(p.opt.Flags[p.opt.Main]), p.opt.Flags[key]
	section, isTable := v.(table)
	switch {
	case key == "host":
		return p.hosts(section)
	case key == "seed":
		return p.seeds(v)
	case key == segmentsKey:
		return p.segments(section)
	case slices.Contains(main, key) && (flags == nil || !isTable):
		return p.flag(p.opt.Main, path, v)
	case flags == nil:
		return p.checkKey(path, slices.Concat(main, slices.Sorted(maps.Keys(p.opt.Flags)), []string{"host", "seed", segmentsKey}))
	case !isTable:
		return fmt.Errorf("%s is a command: put its flags in a section, [%s]", key, key)
	}
	return p.each(path, section, func(path []string, v any) error {
		if err := p.checkKey(path, names(flags)); err != nil {
			return err
		}
		return p.flag(key, path, v)
	})
}

// flag sets a flag of the running command. It does nothing if the value is for another command, or
// if the command line sets the flag.
func (p *parser) flag(command string, path []string, v any) error {
	name, flags := path[len(path)-1], p.opt.Flags[p.opt.Command]
	f := flags.Lookup(name)
	shared := command == p.opt.Main && name == p.opt.Shared
	switch _, isTable := v.(table); {
	case isTable:
		return notScalar(name)
	case command != p.opt.Command && !shared, f == nil, name == p.opt.Ignored, f.Changed && f.Annotations[Source] == nil, p.lacks(path, v):
		return nil
	}
	filled, err := p.set(flags, name, v)
	if err != nil {
		return err
	}
	from := []string{fmt.Sprintf("%s:%d", p.file.Name, p.lineOf(path))}
	if filled {
		from = append(from, "secret")
	}
	return flags.SetAnnotation(name, Source, from)
}

// set sets a flag to a value, or, if the value is an array, once to each element. It reports
// whether the value contains a substitution.
func (p *parser) set(flags *pflag.FlagSet, name string, v any) (filled bool, err error) {
	f := flags.Lookup(name)
	_, isArray := v.([]any)
	if _, repeats := f.Value.(pflag.SliceValue); isArray && !repeats {
		return false, fmt.Errorf("%s: takes one value, not an array", name)
	}
	for _, element := range elements(v) {
		raw, ok := scalar(element)
		if !ok {
			return false, notScalar(name)
		}
		text, err := p.fill(raw)
		if err != nil {
			return false, err
		}
		secret := text != raw
		filled = filled || secret
		switch on, isBool := element.(bool); {
		case isBool && f.Value.Type() == "on|off":
			text = map[bool]string{true: "on", false: "off"}[on]
		case isBool && f.Value.Type() != "bool" && f.NoOptDefVal != "":
			if !on {
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

// elements returns the elements of an array, or a list of the one value.
func elements(v any) []any {
	if all, ok := v.([]any); ok {
		return all
	}
	return []any{v}
}

// scalar returns a string, or a number or Boolean in the form in which flags accept it.
func scalar(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

func notScalar(name string) error {
	return fmt.Errorf("%s: must be a string, a number, a Boolean, or an array of these", name)
}

// text returns a string with its variables replaced. key is for errors.
func (p *parser) text(key string, v any) (string, error) {
	text, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s: must be a string", key)
	}
	return p.fill(text)
}

// texts is like text for a string or an array of strings.
func (p *parser) texts(key string, v any) (all []string, err error) {
	for _, element := range elements(v) {
		text, err := p.text(key, element)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}
