package audit

import (
	"bufio"
	_ "embed"
	"fmt"
	"net/textproto"
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
// consist of keys with values. An indented line continues a value. A blank line ends a section.
func parseTexts(file string) (map[string]Text, error) {
	all := map[string]Text{}
	r := textproto.NewReader(bufio.NewReader(strings.NewReader(file + "\n\n")))
	for line, err := r.ReadLine(); err == nil; line, err = r.ReadLine() {
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := r.ReadMIMEHeader()
		of := func(key string) string {
			if len(s[key]) != 1 {
				return ""
			}
			defer delete(s, key)
			return limits.Replace(s[key][0])
		}
		t := Text{weightNamed(of("Severity")), of("Title"), of("Means"), of("Fix"), of("Unseen"), of("Measured")}
		name := strings.Trim(line, "[]")
		if err != nil || line != "["+name+"]" || all[name] != (Text{}) || t.Weight == 0 || t.Title == "" || t.Means == "" || t.Fix == "" || len(s) > 0 {
			return nil, fmt.Errorf("findings.txt: %s: write a name in brackets, and severity (error, warning, note or ok), title, means and fix, each with a colon: %v", line, err)
		}
		all[name] = t
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
