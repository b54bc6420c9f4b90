package audit

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// The text of each finding is in findings.txt, which can be edited without knowing Go.
//
//go:embed findings.txt
var findingsFile string

var texts = sync.OnceValues(func() (map[string]Text, error) { return parseTexts(findingsFile) })

// A Text explains a finding in reports.
type Text struct {
	Weight   Weight
	Title    string
	Means    string // what the finding means, in one sentence
	Fix      string // how to fix the problem, in one sentence
	unseen   string // why the finding may be wrong if parts of the site were not fetched; "" if it is right even then
	measured string // title if all pages were compared with each other; "" means the same as Title
}

func parseTexts(file string) (map[string]Text, error) {
	type field struct{ finding, key string }
	fields := map[field]string{}
	var names []string
	var last field
	for i, line := range strings.Split(file, "\n") {
		key, value, isField := strings.Cut(line, ":")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			last = field{finding: line[1 : len(line)-1]}
			names = append(names, last.finding)
		case line[0] == ' ' && last.key != "":
			fields[last] += " " + strings.TrimSpace(line)
		case isField && last.finding != "" && fields[field{last.finding, key}] == "":
			last.key = key
			fields[last] = strings.TrimSpace(value)
		default:
			return nil, fmt.Errorf("findings.txt, line %d: %q: write [name], or severity, title, means or fix once each, with a colon", i+1, line)
		}
	}
	all := map[string]Text{}
	for _, name := range names {
		take := func(key string) string {
			f := field{name, key}
			defer delete(fields, f)
			return limits.Replace(fields[f])
		}
		t := Text{weightNamed(take("severity")), take("title"), take("means"), take("fix"), take("unseen"), take("measured")}
		if _, twice := all[name]; twice || t.Weight == 0 || t.Title == "" || t.Means == "" || t.Fix == "" {
			return nil, fmt.Errorf("findings.txt: [%s]: write exactly one section, with severity (error, warning, note or ok), title, means and fix", name)
		}
		all[name] = t
	}
	for f := range fields {
		return nil, fmt.Errorf("findings.txt: [%s]: unknown key %q", f.finding, f.key)
	}
	return all, nil
}

func addTexts(all []*List) {
	known, err := texts()
	if err != nil {
		panic(err) // cannot happen: the file is embedded, and a test parses it
	}
	for _, l := range all {
		for _, f := range l.Findings {
			f.Text = known[f.FullName()]
		}
	}
}
