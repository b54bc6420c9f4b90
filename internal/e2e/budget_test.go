package e2e

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// budgets lists how many lines of code a folder may have. The constant unlisted is for all other folders. Comments,
// blank lines and tests do not count.
//
// A change that needs more lines removes code that earns less, in this folder or in another, and moves the lines in
// this table. So the project does not grow unseen.
var budgets = map[string]int{
	"crawler":               5_175,
	"crawler/learn":         1_620,
	"crawler/render":        1_050,
	"crawler/sitemap":       575,
	"crawler/wire":          1_500,
	"dedup":                 1_650,
	"document":              1_030,
	"extract":               5_650,
	"extract/markup":        890,
	"feed":                  1_525,
	"frontier":              900,
	"internal/archive":      1_800,
	"internal/cli":          6_625,
	"internal/complete":     1_350,
	"internal/config":       810,
	"internal/corpus":       2_800,
	"internal/ingest":       4_600,
	"internal/join":         900,
	"internal/session":      4_200,
	"internal/within":       725,
	"report":                2_210,
	"report/audit":          4_100,
	"store":                 1_710,
	"store/badger":          4_680,
	"store/badger/postings": 1_050,
	"store/postgres":        3_615,
	"store/remote":          655,
	"view":                  2_730,
	"warc":                  1_560,
}

const (
	unlisted   = 500    // lines of a folder that is not listed
	anyFolder  = 6_000  // lines of any folder except those in above
	everything = 73_000 // lines of the project
	slack      = 200    // lines by which a budget may exceed its folder
)

// above lists the folders that have more lines than any folder should have. They may shrink, and not grow.
var above = map[string]bool{"internal/cli": true}

func TestBudget(t *testing.T) {
	files := linesOfCode(t)
	folders, total := map[string]int{}, 0
	for name, lines := range files {
		folders[path.Dir(name)] += lines
		total += lines
	}
	for folder, lines := range folders {
		budget, listed := budgets[folder]
		switch {
		case !listed && lines > unlisted, listed && lines > budget:
			t.Errorf("%s has %d lines of code, and its budget is %d. Look first at %s", folder, lines, max(budget, unlisted), longest(files, folder))
		case listed && lines < budget-slack:
			t.Errorf("%s has only %d lines of code: lower its budget of %d", folder, lines, budget)
		}
	}
	for folder, budget := range budgets {
		if budget > anyFolder != above[folder] {
			t.Errorf("the budget of %s is %d, and the limit is %d: divide the folder, or take it out of the list of larger ones", folder, budget, anyFolder)
		}
		if folders[folder] == 0 {
			t.Errorf("the table has a budget for %s, which has no code", folder)
		}
	}
	if total > everything {
		t.Errorf("the project has %d lines of code, and its budget is %d", total, everything)
	}
}

// notProduct matches the folders that only tests need.
var notProduct = regexp.MustCompile(`^(internal/tools|internal/e2e|crawler/hostile|examples|bench)(/|$)`)

// linesOfCode returns the number of lines of each file of the product, in Go and SQL.
func linesOfCode(t *testing.T) map[string]int {
	t.Helper()
	blank := regexp.MustCompile(`^\s*(//.*|--.*)?\s*$`)
	lines := map[string]int{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "." || notProduct.MatchString(name)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".sql" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if !blank.MatchString(line) {
				lines[name]++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// longest names the three longest files of a folder, with their lines.
func longest(files map[string]int, folder string) string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return path.Dir(name) != folder })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(files[b]-files[a], strings.Compare(a, b)) })
	var said []string
	for _, name := range names[:min(3, len(names))] {
		said = append(said, fmt.Sprintf("%s (%d)", path.Base(name), files[name]))
	}
	return strings.Join(said, ", ")
}
