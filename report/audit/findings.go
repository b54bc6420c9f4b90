package audit

import (
	_ "embed"
	"fmt"
	"slices"
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

// parseTexts reads findings.txt: sections that begin with the name of a finding in brackets, and
// consist of keys with values. An indented line continues a value.
func parseTexts(file string) (map[string]Text, error) {
	sections := map[string]map[string]string{}
	var section map[string]string
	last := ""
	for i, line := range strings.Split(file, "\n") {
		key, value, isField := strings.Cut(line, ":")
		name := strings.Trim(line, "[]")
		switch {
		case line == "" || line[0] == '#':
		case line == "["+name+"]" && sections[name] == nil:
			section, last = map[string]string{}, ""
			sections[name] = section
		case line[0] == ' ' && last != "":
			section[last] += " " + strings.TrimSpace(line)
		case isField && section != nil && slices.Contains(textKeys, key) && section[key] == "":
			last, section[key] = key, strings.TrimSpace(value)
		default:
			return nil, fmt.Errorf("findings.txt, line %d: %q: write each [name] once, and %s once each, with a colon", i+1, line, strings.Join(textKeys, ", "))
		}
	}
	all := map[string]Text{}
	for name, s := range sections {
		of := func(key string) string { return limits.Replace(s[key]) }
		t := Text{weightNamed(s["severity"]), of("title"), of("means"), of("fix"), of("unseen"), of("measured")}
		if t.Weight == 0 || t.Title == "" || t.Means == "" || t.Fix == "" {
			return nil, fmt.Errorf("findings.txt: [%s]: write severity (error, warning, note or ok), title, means and fix", name)
		}
		all[name] = t
	}
	return all, nil
}

var textKeys = []string{"severity", "title", "means", "fix", "unseen", "measured"}

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
