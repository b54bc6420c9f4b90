package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestLinks checks that the file and the heading of each relative link in the manual exist.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(unfenced(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(m[1], "#")
			to := filepath.Join(filepath.Dir(page), name)
			if name == "" {
				to = page
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link to %s leads nowhere: %v", page, m[1], err)
			} else if anchor != "" && !anchors(t, to)[anchor] {
				t.Errorf("%s: %s has no heading #%s", page, to, anchor)
			}
		}
	}
}

// TestPictures checks that the manual shows every picture in docs, and that no picture is large.
func TestPictures(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, page := range documents(t) {
		all.WriteString(unfenced(t, page))
	}
	pictures, err := filepath.Glob("docs/*.[ps][nv]g")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures in docs: %v", err)
	}
	for _, p := range pictures {
		if info, err := os.Stat(p); err != nil || info.Size() > 150_000 {
			t.Errorf("%s has %d bytes, want at most 150,000: %v", p, info.Size(), err)
		}
		if !strings.Contains(all.String(), filepath.Base(p)) {
			t.Errorf("no document shows %s", p)
		}
	}
}

// unfenced returns a page without its fenced blocks.
func unfenced(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(string(text), "")
}

// anchors returns the names that code hosting sites give to the headings of a page.
func anchors(t *testing.T, page string) map[string]bool {
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(unfenced(t, page), -1) {
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return names
}

// TestMarkdown checks that the manual is plain Markdown: it has no HTML, and no block of commands
// that TestDocs does not run.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	fence := regexp.MustCompile("(?m)^ *```(.*)$")
	code := regexp.MustCompile("`[^`]*`")
	tag := regexp.MustCompile(`</?[a-z!][^>]*>`)
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range fence.FindAllStringSubmatch(string(text), -1) {
			switch {
			case i%2 == 0 && !slices.Contains([]string{"console", "sql", "go", "mermaid", "text", "toml"}, m[1]):
				t.Errorf("%s has a block of %q", page, m[1])
			case i%2 == 1 && m[1] != "":
				t.Errorf("%s: a block ends with %q", page, m[0])
			}
		}
		if found := tag.FindString(code.ReplaceAllString(unfenced(t, page), "")); found != "" {
			t.Errorf("%s has HTML: %s", page, found)
		}
	}
}

// TestMetricsTable compares the metrics in docs/operations.md with those in the code.
func TestMetricsTable(t *testing.T) {
	t.Parallel()
	source := sourceOf(t, "internal/monitor")
	var want, got []string
	for _, m := range regexp.MustCompile(`describe\("(\w+)"|Name: +"skink_(\w+)"`).FindAllStringSubmatch(source, -1) {
		want = append(want, "skink_"+m[1]+m[2])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(skink_\\w+)` \\|").FindAllStringSubmatch(unfenced(t, "docs/operations.md"), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 5 || !slices.Equal(got, want) {
		t.Errorf("docs/operations.md has the metrics %v, want %v", got, want)
	}
}

// TestProblemsTable checks that docs/crawling.md explains every problem that a URL can have.
func TestProblemsTable(t *testing.T) {
	t.Parallel()
	problems := regexp.MustCompile(`Problem\w+ +Problem = "([^"]+)"`).FindAllStringSubmatch(sourceOf(t, "crawler"), -1)
	if len(problems) < 10 {
		t.Errorf("crawler has only %d problems", len(problems))
	}
	page := unfenced(t, "docs/crawling.md")
	for _, m := range problems {
		if !strings.Contains(page, "\n| `"+m[1]+"` | ") {
			t.Errorf("docs/crawling.md does not explain the problem %q", m[1])
		}
	}
}

// sourceOf returns the source code of a package.
func sourceOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil || files == nil {
		t.Fatalf("no code in %s: %v", folder, err)
	}
	var all strings.Builder
	for _, name := range files {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(code)
	}
	return all.String()
}
