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

// unmarshal is like [toml.Unmarshal], but its errors name the file and the line.
func unmarshal(name string, text []byte) (settings table, err error) {
	err = toml.Unmarshal(text, &settings)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return nil, fmt.Errorf("%s:%d: %s", name, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return settings, err
}

// lineOf returns the line on which the key at path first occurs.
func (p *parser) lineOf(path []string) int { return p.lines[joined(path)].Line }

// places holds where each key first occurs in a file.
type places = map[string]unstable.Position

func joined(path []string) string { return strings.Join(path, "\x00") }

// linesOf returns the place of each key of a valid file, and of the tables around it.
func linesOf(text []byte) places {
	lines := places{}
	var p unstable.Parser
	p.Reset(text)
	var add func(within []string, n *unstable.Node) []string
	add = func(within []string, n *unstable.Node) []string {
		path := slices.Clone(within)
		for key := n.Key(); key.Next(); {
			path = append(path, string(key.Node().Data))
			if at := joined(path); lines[at].Line == 0 {
				lines[at] = p.Shape(key.Node().Raw).Start
			}
		}
		if n.Kind == unstable.KeyValue && n.Value().Kind == unstable.InlineTable {
			for inner := n.Value().Children(); inner.Next(); {
				add(path, inner.Node())
			}
		}
		return path
	}
	var section []string
	sections := map[string]int{} // number of sections of each array
	for p.NextExpression() {
		if n := p.Expression(); n.Kind == unstable.KeyValue {
			add(section, n)
		} else {
			section = add(nil, n)
			if n.Kind == unstable.ArrayTable {
				section = append(section, strconv.Itoa(sections[section[0]]))
				sections[section[0]]++
				lines[joined(section)] = lines[joined(section[:1])]
			}
		}
	}
	return lines
}
