package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writers lists the folders that may create, open for writing or rename files. Each has a reason.
// A command writes all other files through internal/output.
var writers = map[string]string{
	"internal/output":             "the gate of all files that a command writes",
	"internal/archive":            "the files of a web archive, with new names in a folder that was claimed",
	"store/disk":                  "replaces a file of a store at once",
	"store/badger":                "the files of a store, and views of it in temporary folders",
	"store/badger/postings":       "the index of a store",
	"internal/tools/postgrestest": "servers for tests",
	"crawler/render":              "the browser's profile, in the folder for temporary files",
	"internal/tools/webgen":       "a tool for tests",
}

var writing = []string{"Create", "OpenFile", "WriteFile", "CreateTemp", "Mkdir", "MkdirAll", "MkdirTemp", "Rename", "Link", "Symlink", "CopyFS", "Truncate"}

// TestWriters checks that no other folder writes files.
func TestWriters(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || name == "examples" || isModule(name)) { // examples are programs of other owners
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			checkWrites(t, filepath.ToSlash(name), used)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range writers {
		if !used[folder] {
			t.Errorf("%s is in the table and writes no files", folder)
		}
	}
}

func checkWrites(t *testing.T, name string, used map[string]bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	folder := path.Dir(name)
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(writing, s.Sel.Name) {
			return true
		}
		if of, ok := s.X.(*ast.Ident); ok && of.Name == "os" {
			if used[folder] = true; writers[folder] == "" {
				t.Errorf("%s uses os.%s: write the file through internal/output", name, s.Sel.Name)
			}
		}
		return true
	})
}
