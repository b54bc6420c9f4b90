package robots

import (
	"maps"
	"slices"
	"strings"
)

// # Content signals
//
// A Content-Signal line lists uses of the site's content that the site allows or forbids:
//
//	Content-Signal: search=yes, ai-train=no
//
// The format is from contentsignals.org (2025), which defines search, ai-input and ai-train. Other
// names are kept too, because the list may grow. A signal above the first user-agent line is for
// all agents. A signal within a group is for the agents of that group, and takes precedence over
// signals above the groups. If two signals in the same group, or two signals above all groups,
// contradict each other, "no" wins.
//
// A signal is not a rule: it never forbids a fetch.

const (
	maxSignals    = 16 // maximum number of signals in a group; further signals are ignored
	longestSignal = 32 // maximum length of a signal's name in bytes
)

// signals maps uses of content to whether the site allows them. It is nil if there are none.
type signals map[string]bool

// add ignores parts of a line that do not have the form name=yes or name=no.
func (s *signals) add(value string) {
	for _, part := range strings.Split(value, ",") {
		name, allowed, ok := parseSignal(strings.ToLower(part))
		if !ok {
			continue
		}
		if *s == nil {
			*s = signals{}
		}
		if before, known := (*s)[name]; known {
			(*s)[name] = before && allowed
		} else if len(*s) < maxSignals {
			(*s)[strings.Clone(name)] = allowed
		}
	}
}

func parseSignal(text string) (name string, allowed, ok bool) {
	name, value, _ := strings.Cut(text, "=")
	name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
	isToken := name != "" && len(name) <= longestSignal && !strings.ContainsFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	})
	return name, value == "yes", isToken && (value == "yes" || value == "no")
}

// IsSignal reports whether text is a single content signal, in the form that [Rules.Signals]
// returns, such as "ai-train=no".
func IsSignal(text string) bool {
	name, _, ok := parseSignal(text)
	return ok && (text == name+"=yes" || text == name+"=no")
}

// Signals returns the content signals for agent, sorted and joined by ", ", such as "ai-train=no,
// search=yes". It returns "" if there are none.
func (r *Rules) Signals(agent string) string {
	all, own := signals{}, signals{}
	maps.Copy(all, r.signals)
	for _, g := range r.groupsOf(agent) {
		for name, allowed := range g.signals {
			before, known := own[name]
			own[name] = allowed && (before || !known)
		}
	}
	maps.Copy(all, own)
	texts := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] {
			texts = append(texts, name+"=yes")
		} else {
			texts = append(texts, name+"=no")
		}
	}
	return strings.Join(texts, ", ")
}
