package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// messagesFile is the file that lists all texts for users.
const messagesFile = "internal/e2e/testdata/messages.txt"

// TestMessages compares the texts in the source code that users can see with a listing. The listing
// is for people. After a change, read it and ask whether a user would understand each line. This
// command updates it:
//
//	go test -run TestMessages ./internal/e2e -update
//
// A text is a string literal with at least two words, or the text between the tags of a template.
// SQL and regular expressions are left out.
func TestMessages(t *testing.T) {
	var listing bytes.Buffer
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (isModule(name) && name != "." || unseen[filepath.ToSlash(name)] || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		var texts []string
		switch path.Ext(name) {
		case ".go":
			texts, err = goTexts(name)
		case ".html":
			texts, err = htmlTexts(name)
		}
		if len(texts) > 0 {
			fmt.Fprintf(&listing, "%s\n", filepath.ToSlash(name))
			for _, text := range texts {
				fmt.Fprintf(&listing, "\t%s\n", text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(messagesFile), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(messagesFile, listing.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(messagesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(listing.Bytes(), want) {
		t.Errorf("%s is out of date: %s\nread the new messages, and write it anew with go test -run TestMessages ./internal/e2e -update",
			messagesFile, firstDifference(listing.String(), string(want)))
	}
}

// unseen lists folders whose texts users do not see.
var unseen = map[string]bool{"bench": true, "examples": true, "docs": true, "internal/tools": true, "internal/e2e": true, "store/storetest": true, "store/postgres/postgrestest": true, "crawler/wire/wiretest": true, "crawler/hostile": true, "internal/language": true}

// goTexts returns the string literals of a file that are texts for people.
func goTexts(name string) (texts []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.CallExpr:
			return calleeOf(n) != "panic" && calleeOf(n) != "MustCompile"
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			if text, _ := strconv.Unquote(n.Value); forPeople(text) {
				texts = append(texts, onOneLine(text))
			}
		}
		return true
	})
	return texts, nil
}

// calleeOf returns the name of a called function or method, without its package.
func calleeOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

var (
	twoWords = regexp.MustCompile(`(^|[^\w.-])[A-Za-z][a-z']+[,:;]? +[("'%\w-]|%[a-zA-Z][,:;]? [a-z]{2}|[a-z]{2}[,:;]? %`)
	sqlText  = regexp.MustCompile(`(?s)^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|WITH|SET|LOCK|BEGIN|TRUNCATE|VALUES|FROM|WHERE|AND|ON CONFLICT|RETURNING)\b|pg_|\$1\b`)
)

// forPeople reports whether a string literal has words and is not SQL.
func forPeople(text string) bool { return twoWords.MatchString(text) && !sqlText.MatchString(text) }

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	htmlAction = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	htmlTag    = regexp.MustCompile(`(?s)<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>`)
	htmlLabel  = regexp.MustCompile(`(?:aria-label|title|placeholder|alt)="([^"]*[a-z]{2}[^"]*)"`)
	quotedText = regexp.MustCompile(`"[^"]*"`)
)

// htmlTexts returns the texts that a template displays. It replaces the actions of the template by
// "…".
func htmlTexts(name string) (texts []string, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	add := func(s string) {
		if s = onOneLine(html.UnescapeString(s)); regexp.MustCompile(`[A-Za-z]{2}`).MatchString(s) {
			texts = append(texts, s)
		}
	}
	for _, a := range htmlAction.FindAllString(string(text), -1) {
		for _, l := range quotedText.FindAllString(a, -1) {
			if forPeople(l) && !strings.HasPrefix(a, "{{template") && !strings.HasPrefix(a, "{{define") {
				add(strings.Trim(l, `"`))
			}
		}
	}
	plain := htmlAction.ReplaceAllString(string(text), "…")
	for _, m := range htmlLabel.FindAllStringSubmatch(plain, -1) {
		add(m[1])
	}
	for part := range strings.SplitSeq(htmlTag.ReplaceAllString(plain, "\x00"), "\x00") {
		add(part)
	}
	return texts, nil
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d is %q", i+1, g[i])
		}
	}
	return fmt.Sprintf("it ends at line %d", len(g))
}
