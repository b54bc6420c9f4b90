package e2e

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notDrawn lists the groups of folders that the picture in docs/design.md omits.
var notDrawn = map[string]bool{"helpers": true, "tests": true}

// TestDesign compares docs/design.md with the import table. Each folder must be in one group. The
// picture must have an arrow for each import between groups, unless a longer path of arrows implies
// it.
func TestDesign(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Groups of folders\n")
	section, _, _ = strings.Cut(section, "\n## ")

	roomOf := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+) \| (.*?) \|`).FindAllStringSubmatch(section, -1) {
		for _, folder := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			name := strings.Replace(folder[1], "main.go", ".", 1)
			if _, ok := table[name]; !ok {
				t.Errorf("group %s has %s, which is not in the import table", row[1], folder[1])
			}
			if roomOf[name] != "" {
				t.Errorf("%s is in the groups %s and %s", folder[1], roomOf[name], row[1])
			}
			roomOf[name] = row[1]
		}
	}
	imports := map[string]map[string]bool{}
	for folder, rule := range table {
		if roomOf[folder] == "" {
			t.Errorf("docs/design.md: %s is in no group", folder)
		}
		for _, imported := range rule.ours {
			from, to := roomOf[folder], roomOf[imported]
			if from != to && from != "" && to != "" && !notDrawn[from] && !notDrawn[to] {
				if imports[from] == nil {
					imports[from] = map[string]bool{}
				}
				imports[from][to] = true
			}
		}
	}
	var want []string
	for from, targets := range imports {
		if reaches(imports, from, from, "") {
			t.Errorf("group %s imports itself through other groups", from)
		}
		for to := range targets {
			if !reaches(imports, from, to, to) {
				want = append(want, from+" --> "+to)
			}
		}
	}
	slices.Sort(want)
	got := regexp.MustCompile(`\w+ --> \w+`).FindAllString(section, -1)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the picture has the arrows\n\t%s\nand the import table\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// reaches reports whether a path of imports leads from one room to another, without the direct
// import of skip.
func reaches(imports map[string]map[string]bool, from, to, skip string) bool {
	seen := map[string]bool{}
	next := slices.Collect(maps.Keys(imports[from]))
	next = slices.DeleteFunc(next, func(room string) bool { return room == skip })
	for len(next) > 0 {
		room := next[0]
		next = next[1:]
		if room == to {
			return true
		}
		if !seen[room] {
			seen[room] = true
			next = slices.AppendSeq(next, maps.Keys(imports[room]))
		}
	}
	return false
}

// TestLibraryExamples checks that all code in docs/library.md is also in a program or an example
// that tests run.
func TestLibraryExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	var programs string
	for _, name := range []string{
		"examples/crawl/main.go", "examples/dedup/main.go", "examples/index/main.go", "examples/markdown/main.go", "examples/resume/main.go",
		"dedup/example_test.go", "extract/example_test.go",
		"document/example_test.go", "crawler/robots/example_test.go", "warc/example_test.go",
	} {
		program, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		programs += string(program)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 6 {
		t.Errorf("docs/library.md has %d blocks of Go, want 6", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(programs, b[1]) {
			t.Errorf("no example has this code of docs/library.md:\n%s", b[1])
		}
	}
}
