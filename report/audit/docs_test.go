package audit

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocsPage checks that docs/audit.md lists the findings of findings.txt. With -update, the test
// writes the list into docs/audit.md.
func TestDocsPage(t *testing.T) {
	const file, begin = "../../docs/audit.md", "## Every finding\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(page), begin)
	if !found {
		t.Fatalf("%s has no heading %q", file, begin)
	}
	want := head + begin + findingsPage()
	if string(page) == want {
		return
	}
	if flag.Lookup("update").Value.String() != "true" { // declared in write_test.go
		t.Fatalf("%s differs from findings.txt: go test ./report/audit -run TestDocsPage -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tag matches an HTML element in a text. Markdown would read it as HTML.
var tag = regexp.MustCompile(`<[^>]+>`)

// findingsPage returns in Markdown a table of the severities, and for each list a table of its
// findings.
func findingsPage() string {
	var b strings.Builder
	b.WriteString("\n| severity | heading in the report |\n|---|---|\n")
	for w := Weight(1); int(w) < len(weightNames); w++ {
		fmt.Fprintf(&b, "| %s | %s |\n", w, weightTitles[w])
	}
	for _, l := range lists(&Audit{site: newSite(false)}) {
		fmt.Fprintf(&b, "\n### %s\n\n| finding | severity | title in the report | why it matters | how to fix it |\n|---|---|---|---|---|\n", l.Name)
		for _, f := range l.Findings {
			means := f.Means
			if f.unseen != "" {
				means += " This may be wrong if some URLs of the site were not fetched: " + strings.ToLower(f.unseen[:1]) + f.unseen[1:]
			}
			row := fmt.Sprintf("| %s | %s | %s | %s |\n", f.Weight, f.Title, means, f.Fix)
			fmt.Fprintf(&b, "| `%s` %s", f.FullName(), tag.ReplaceAllString(row, "`$0`"))
		}
	}
	return b.String()
}
