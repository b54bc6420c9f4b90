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
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// messagesFile lists the texts that users see.
const messagesFile = "internal/e2e/testdata/messages.txt"

// TestMessages compares the texts in the source that users can see with a listing. The listing is
// for people: read it after a change, and ask whether a user would understand each line. To
// update the listing, run
//
//	go test -run TestMessages ./internal/e2e -update
//
// A text is a string literal with two words, or the text between the tags of HTML. Literals that
// only programs read are left out: SQL, regular expressions, JavaScript, media types, names of
// stored values and templates, lists of words, style sheets, and texts that the code only compares
// with others or hashes.
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
		case ".txt":
			texts, err = textTexts(name)
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
		t.Errorf("%s is out of date: %s\nread the new messages, and update it with go test -run TestMessages ./internal/e2e -update",
			messagesFile, firstDifference(listing.String(), string(want)))
	}
}

// unseen lists folders whose texts users do not see.
var unseen = map[string]bool{"bench": true, "examples": true, "docs": true, "internal/tools": true, "internal/e2e": true, "internal/tools/storetest": true, "internal/tools/postgrestest": true, "internal/tools/wiretest": true, "crawler/hostile": true, "dedup/language": true}

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
			return !readsNoText(n)
		case *ast.ValueSpec:
			return !strings.HasSuffix(n.Names[0].Name, "Name") && !isSQL(n)
		case *ast.BinaryExpr:
			return n.Op != token.EQL && n.Op != token.NEQ && !isSQL(n)
		case *ast.CompositeLit:
			return !isNames(n)
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			return key == nil || key.Name != "name" && key.Name != "Class"
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(n.Value)
			if strings.HasPrefix(text, "<") {
				texts = append(texts, betweenTags(text)...)
			} else if forPeople(text) {
				texts = append(texts, onOneLine(text))
			}
		}
		return true
	})
	return texts, nil
}

// readsNoText reports whether call is a call of a function whose arguments no user sees. Such a
// function compares strings, makes a set of words, or executes a template by its name.
func readsNoText(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic" || f.Name == "setOfWords" || f.Name == "byFirst" || f.Name == "words"
	case *ast.SelectorExpr:
		pkg, _ := f.X.(*ast.Ident)
		compares := pkg != nil && (pkg.Name == "strings" || pkg.Name == "bytes") && f.Sel.Name != "Join" && f.Sel.Name != "NewReader"
		return compares || f.Sel.Name == "MustCompile" || f.Sel.Name == "ExecuteTemplate" || f.Sel.Name == "Sum256" || f.Sel.Name == "at"
	}
	return false
}

// isSQL reports whether a string literal below a node is SQL. The other literals below the node are
// then parts of the same SQL command.
func isSQL(n ast.Node) (is bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			is = is || sqlText.MatchString(text)
		}
		return !is
	})
	return is
}

// isNames reports whether a literal is a list of names, or a table of words. A list of strings is a
// list of names if most of them are single words. A table of words has a field words.
func isNames(list *ast.CompositeLit) bool {
	of, ok := list.Type.(*ast.ArrayType)
	if !ok {
		return false
	}
	if row, ok := of.Elt.(*ast.StructType); ok {
		return slices.ContainsFunc(row.Fields.List, func(f *ast.Field) bool { return len(f.Names) > 0 && f.Names[0].Name == "words" })
	}
	words, texts := 0, 0
	for _, e := range list.Elts {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			switch text, _ := strconv.Unquote(l.Value); len(strings.Fields(text)) {
			case 0:
			case 1:
				words++
			default:
				texts++
			}
		}
	}
	return words > texts
}

var (
	twoWords = regexp.MustCompile(`(^|[^\w.-])[A-Za-z][a-z']+[,:;]? +[("'%\w-]|%[a-zA-Z][,:;]? [a-z]{2}|[a-z]{2}[,:;]? %`)
	sqlText  = regexp.MustCompile(`(?s)^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|WITH|SET|LOCK|BEGIN|TRUNCATE|VALUES|FROM|WHERE|AND|ON CONFLICT|RETURNING)\b|\b(SELECT|CASE WHEN|BETWEEN|statement_timestamp)\b|pg_|\$1\b`)

	// notForPeople matches media types and policies of HTTP headers, bare lists of tokens, layouts of
	// times, JavaScript, scripts for shells, and formats with control characters.
	notForPeople = regexp.MustCompile(`^[a-z]+/[a-z+.-]+;|^default-src |^\w+(, \w+){3,}$|\b2006\b|=> |[\x00-\x08\r]|\besac\b|COMPREPLY|compdef|^# fish|^complete -c|case "?\$|^","|@media|\bfont:`)
)

// forPeople reports whether a literal holds words for people.
func forPeople(text string) bool {
	return twoWords.MatchString(text) && !sqlText.MatchString(text) && !notForPeople.MatchString(text)
}

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	htmlAction    = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	namesTemplate = regexp.MustCompile(`^\{\{-? *(template|define|block)\b`)
	htmlTag       = regexp.MustCompile(`(?s)<(?:style|script)\b.*?</(?:style|script)>|<[^>]*(?:>|$)`)
	htmlLabel     = regexp.MustCompile(`(?:aria-label|title|placeholder|alt)="([^"]*[a-z]{2}[^"]*)"`)
	quotedText    = regexp.MustCompile(`"[^"]*"`)
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
			if forPeople(l) && !namesTemplate.MatchString(a) {
				add(strings.Trim(l, `"`))
			}
		}
	}
	plain := htmlAction.ReplaceAllString(string(text), "…")
	for _, m := range htmlLabel.FindAllStringSubmatch(plain, -1) {
		add(m[1])
	}
	return append(texts, betweenTags(plain)...), nil
}

// textTexts returns the lines that a template of a text displays. It returns nothing for a file without templates.
func textTexts(name string) (texts []string, err error) {
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), "{{define") {
		return nil, err
	}
	for _, a := range htmlAction.FindAllString(string(text), -1) {
		for _, l := range quotedText.FindAllString(a, -1) {
			if forPeople(l) && !namesTemplate.MatchString(a) {
				texts = append(texts, onOneLine(strings.Trim(l, `"`)))
			}
		}
	}
	for line := range strings.Lines(htmlAction.ReplaceAllString(string(text), "…")) {
		if line = onOneLine(line); regexp.MustCompile(`[A-Za-z]{2}`).MatchString(line) {
			texts = append(texts, line)
		}
	}
	return texts, nil
}

// betweenTags returns the words between the tags of HTML.
func betweenTags(text string) (texts []string) {
	for part := range strings.SplitSeq(htmlTag.ReplaceAllString(text, "\x00"), "\x00") {
		if part = onOneLine(html.UnescapeString(part)); regexp.MustCompile(`[A-Za-z]{2}`).MatchString(part) {
			texts = append(texts, part)
		}
	}
	return texts
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
