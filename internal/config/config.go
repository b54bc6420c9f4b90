// Package config reads configuration files. A file is TOML. It contains flags of the main command
// under their long names, and sections for the other commands and for hosts or groups of hosts:
//
//	delay = "500ms"
//	[report]
//	format = "json"
//	[host."*.example.org"]
//	headers = { "X-Token" = "${TOKEN}" }
//
// Start with [Parse]. The package does not define commands or flags: its caller lists the flags that
// exist, and applies their values. Errors name the file and the line, and never contain a secret.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"skink/crawler/access"
)

// A File is a configuration file.
type File struct {
	Name     string
	Text     []byte   // content of the file, unchanged
	Read     []string // names of the files that the file names and that were read
	Flags    []Flag   // flags for the running command, in line order
	Hosts    access.Table
	Settings []Setting // settings of hosts for printing, in line order
}

// A Flag is a flag whose value comes from a configuration file.
type Flag struct {
	Name   string
	Values []string // elements of an array, or a single value
	List   bool     // whether the value is an array
	Bool   bool     // whether the value is a Boolean
	Line   int
	Filled bool // whether a value contains a substitution ${...}; such a value may be secret and must not be printed
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
	Main    string                                       // command whose flags are set above all sections
	Shared  string                                       // flag that is set above all sections and applies to all commands
	Flags   map[string][]string                          // names of the flags of each command
	Ignored func(flag string) bool                       // reports whether a flag of the running command must not be set from the file; may be nil
	Host    func(h *access.Host) Setter                  // returns a setter for the settings of a host that are also flags; nil means that host sections are only checked for unknown keys
	Getenv  func(name string) (value string, set bool)   // looks up an environment variable; nil means [os.LookupEnv]
	Suggest func(word string, names []string) (s string) // returns a suggestion for the end of an error about an unknown name; may be nil
}

// A Setter parses the values of flags. Its errors may contain the value.
type Setter interface {
	Set(flag, value string) error
}

// Read reads and parses a file; see [Parse].
func Read(name string, opt Options) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, text, opt)
}

// Parse parses the text of a file. It fails at the first error. Paths in the file are relative to
// its folder, or to the folder in the comment that [File.Copy] adds.
func Parse(name string, text []byte, opt Options) (*File, error) {
	var content map[string]any
	if err := toml.Unmarshal(text, &content); err != nil {
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := wrong.Position()
			return nil, fmt.Errorf("%s:%d: %s", name, line, strings.TrimPrefix(wrong.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &parser{file: &File{Name: name, Text: text}, opt: opt, lines: linesOf(text), dir: folderOf(name, text), copied: strings.Contains(string(text), relativeTo)}
	if p.opt.Getenv == nil {
		p.opt.Getenv = os.LookupEnv
	}
	if err := p.parse(content); err != nil {
		return p.file, err
	}
	if len(p.lacking) > 0 {
		return p.file, fmt.Errorf("%s: a store keeps no secrets, so this copy lacks %s: name the original file with --config FILE", name, strings.Join(p.lacking, ", "))
	}
	return p.file, nil
}

const relativeTo = "\n# Paths are relative to "

// Copy returns the text for a copy of the file in another folder. The copy has *** in place of each
// literal secret. It ends with a comment that contains the original folder, because paths in the
// file are relative to that folder.
func (f *File) Copy() []byte {
	dir := folderOf(f.Name, f.Text)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	text := string(withoutSecrets(f.Text))
	if at := strings.LastIndex(text, relativeTo); at >= 0 {
		text = text[:at]
	}
	return []byte(strings.TrimRight(text, "\n") + "\n" + relativeTo + strconv.Quote(dir) + "\n")
}

func folderOf(name string, text []byte) string {
	if at := strings.LastIndex(string(text), relativeTo); at >= 0 {
		quoted := strings.TrimSpace(string(text[at+len(relativeTo):]))
		if dir, err := strconv.Unquote(quoted); err == nil {
			return dir
		}
	}
	return filepath.Dir(name)
}

// linesOf returns the line number of each key. The keys of the map are paths joined by [pathOf].
func linesOf(text []byte) map[string]int {
	return scan(new(unstable.Parser), text, func([]string, *unstable.Node) {})
}

// scan returns the same as [linesOf], and calls found with each string and the path of its key.
func scan(p *unstable.Parser, text []byte, found func(path []string, value *unstable.Node)) map[string]int {
	lines := map[string]int{}
	p.Reset(text)
	var section []string
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = noteKey(p, n, nil, lines)
		case unstable.KeyValue:
			noteLines(p, n, section, lines, found)
		}
	}
	return lines
}

func noteLines(p *unstable.Parser, n *unstable.Node, section []string, lines map[string]int, found func([]string, *unstable.Node)) {
	path := noteKey(p, n, section, lines)
	var note func(value *unstable.Node)
	note = func(value *unstable.Node) {
		switch value.Kind {
		case unstable.String:
			found(path, value)
		case unstable.KeyValue:
			noteLines(p, value, path, lines, found)
		case unstable.InlineTable, unstable.Array:
			for it := value.Children(); it.Next(); {
				note(it.Node())
			}
		}
	}
	note(n.Value())
}

// noteKey records the line number of each part of a key, and returns the full path of the key.
func noteKey(p *unstable.Parser, n *unstable.Node, section []string, lines map[string]int) []string {
	path := slices.Clone(section)
	for it := n.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
		if _, known := lines[pathOf(path...)]; !known {
			lines[pathOf(path...)] = p.Shape(it.Node().Raw).Start.Line
		}
	}
	return path
}

func pathOf(keys ...string) string { return strings.Join(keys, "\x00") }

type parser struct {
	file  *File
	opt   Options
	lines map[string]int
	dir   string // folder to which paths in the file are relative

	copied  bool     // whether the file is a copy, which lacks secrets
	lacking []string // keys of the secrets that the running command needs, and that the copy lacks
}

// lacks reports whether a value of a copy lacks secrets, and records their keys.
func (p *parser) lacks(path []string, value any) bool {
	if !p.copied || !strings.Contains(fmt.Sprint(value), absent) {
		return false
	}
	table, ok := value.(map[string]any)
	for _, key := range p.keys(path, table) {
		p.lacks(append(slices.Clone(path), key), table[key])
	}
	if !ok {
		p.lacking = append(p.lacking, strings.Join(path, " "))
	}
	return true
}

func (p *parser) errorf(path []string, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.file.Name, p.lines[pathOf(path...)], fmt.Errorf(format, args...))
}

func (p *parser) unknown(path []string, names []string) error {
	word, more := path[len(path)-1], ""
	if p.opt.Suggest != nil {
		more = p.opt.Suggest(word, names)
	}
	if more != "" {
		more = ": " + more
	}
	return p.errorf(path, "unknown key %q%s", word, more)
}

// keys returns the keys of a table in line order.
func (p *parser) keys(path []string, table map[string]any) []string {
	line := func(key string) int { return p.lines[pathOf(append(slices.Clone(path), key)...)] }
	var keys []string
	for key := range table {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(line(a), line(b)), cmp.Compare(a, b)) })
	return keys
}

func (p *parser) parse(content map[string]any) error {
	for _, key := range p.keys(nil, content) {
		path := []string{key}
		switch {
		case key == "host":
			if err := p.hosts(path, content[key]); err != nil {
				return err
			}
		case slices.Contains(p.opt.Flags[p.opt.Main], key):
			if err := p.take(path, content[key], p.opt.Command == p.opt.Main || key == p.opt.Shared); err != nil {
				return err
			}
		case p.opt.Flags[key] != nil:
			if err := p.command(path, content[key]); err != nil {
				return err
			}
		default:
			commands := slices.Sorted(maps.Keys(p.opt.Flags))
			return p.unknown(path, slices.Concat(p.opt.Flags[p.opt.Main], commands, []string{"host"}))
		}
	}
	return nil
}

func (p *parser) command(path []string, value any) error {
	name := path[0]
	flags, ok := value.(map[string]any)
	if !ok {
		return p.errorf(path, "%s is a command: put its flags in a section, [%s]", name, name)
	}
	for _, key := range p.keys(path, flags) {
		path := append(slices.Clone(path), key)
		if !slices.Contains(p.opt.Flags[name], key) {
			return p.unknown(path, p.opt.Flags[name])
		}
		if err := p.take(path, flags[key], p.opt.Command == name); err != nil {
			return err
		}
	}
	return nil
}

// take adds a flag to the file if it is for the running command (wanted), and Options.Ignored does
// not exclude it.
func (p *parser) take(path []string, value any, wanted bool) error {
	if !wanted || p.opt.Ignored != nil && p.opt.Ignored(path[len(path)-1]) || p.lacks(path, value) {
		return nil
	}
	f, err := p.flag(path, value)
	if err == nil {
		p.file.Flags = append(p.file.Flags, f)
	}
	return err
}

func (p *parser) flag(path []string, value any) (Flag, error) {
	f := Flag{Name: path[len(path)-1], Line: p.lines[pathOf(path...)]}
	values, list := value.([]any)
	if !list {
		values = []any{value}
	}
	f.List = list
	for _, v := range values {
		text, ok := scalar(v)
		if !ok {
			return f, p.errorf(path, "%s: must be a string, a number, a Boolean, or an array of these", f.Name)
		}
		filled, err := p.fill(path, text)
		if err != nil {
			return f, err
		}
		_, f.Bool = v.(bool)
		f.Filled = f.Filled || filled != text
		f.Values = append(f.Values, filled)
	}
	return f, nil
}

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
