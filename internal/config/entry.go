package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// An entry is a key with its value, or a table.
type entry struct {
	path   []string // the keys of the tables around it, and its own key
	line   int
	table  bool // whether it is a table, whose keys have entries of their own
	array  bool
	values []value // the elements of an array, or one value
}

// A value is a TOML value that is no table.
type value struct {
	kind unstable.Kind
	text string // the string without quotes, or the number or Boolean
}

// scalar reports whether a value is a string, a number or a Boolean.
func (v value) scalar() bool {
	return v.kind == unstable.String || v.kind == unstable.Bool || v.kind == unstable.Integer || v.kind == unstable.Float
}

func (e entry) key() string { return e.path[len(e.path)-1] }

// section reports whether an entry is a table, or in one.
func (e entry) section() bool { return e.table || len(e.path) > 1 }

// unmarshal is like [toml.Unmarshal], but its errors name the file and the line.
func unmarshal(name string, file []byte, settings *map[string]any) error {
	err := toml.Unmarshal(file, settings)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return fmt.Errorf("%s:%d: %s", name, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return err
}

// scan returns the entries of a file, in line order.
func scan(name string, file []byte) (all []entry, err error) {
	var settings map[string]any
	if err := unmarshal(name, file, &settings); err != nil { // also finds keys that are set twice
		return nil, err
	}
	var p unstable.Parser
	p.Reset(file)
	var add func(within []string, n *unstable.Node) []string
	add = func(within []string, n *unstable.Node) []string {
		e := entry{path: slices.Clone(within), table: n.Kind == unstable.Table}
		for key := n.Key(); key.Next(); {
			e.path = append(e.path, string(key.Node().Data))
			e.line = p.Shape(key.Node().Raw).Start.Line
		}
		if n.Kind != unstable.KeyValue {
			all = append(all, e.with(n))
			return e.path
		}
		v := n.Value()
		e.table = v.Kind == unstable.InlineTable
		all = append(all, e.with(v))
		for inner := v.Children(); e.table && inner.Next(); {
			add(e.path, inner.Node())
		}
		return nil
	}
	var section []string
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind == unstable.KeyValue {
			add(section, n)
		} else {
			section = add(nil, n)
		}
	}
	return all, nil
}

// with returns the entry with the values of a node.
func (e entry) with(n *unstable.Node) entry {
	if e.table {
		return e
	}
	if e.array = n.Kind == unstable.Array; !e.array {
		e.values = []value{valueOf(n)}
		return e
	}
	for element := n.Children(); element.Next(); {
		e.values = append(e.values, valueOf(element.Node()))
	}
	return e
}

// valueOf returns the value of a node. Numbers have the form in which flags accept them.
func valueOf(n *unstable.Node) value {
	v := value{n.Kind, string(n.Data)}
	switch n.Kind {
	case unstable.Integer:
		if i, err := strconv.ParseInt(v.text, 0, 64); err == nil {
			v.text = strconv.FormatInt(i, 10)
		}
	case unstable.Float:
		v.text = strings.ReplaceAll(v.text, "_", "")
	}
	return v
}
