package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table is which of our packages each folder may import, and the large
// dependencies that have their one home there. Tests may import what they test
// with. A folder that is not in the table may not exist.
var table = map[string]struct {
	ours  []string
	heavy []string
}{
	".":                   {[]string{"internal/cli"}, nil},
	"frontier":            {nil, []string{"github.com/nlnwa/whatwg-url"}},
	"crawler":             {[]string{"frontier"}, []string{"github.com/gocolly/colly"}},
	"extract":             {[]string{"internal/language"}, []string{"github.com/PuerkitoBio/goquery"}},
	"dedup":               {[]string{"internal/language"}, nil},
	"store":               {[]string{"dedup", "frontier"}, nil},
	"store/storetest":     {[]string{"store", "dedup", "frontier"}, nil},
	"store/badger":        {[]string{"store", "dedup", "frontier"}, []string{"github.com/dgraph-io/badger"}},
	"report":              {[]string{"store", "dedup", "internal/harmless"}, nil},
	"feed":                {[]string{"store", "dedup", "internal/harmless"}, nil},
	"internal/language":   {nil, nil},
	"internal/harmless":   {nil, nil},
	"internal/lastused":   {nil, nil},
	"internal/memory":     {nil, nil},
	"internal/ingest":     {[]string{"frontier", "crawler", "extract", "dedup", "store", "internal/lastused", "internal/memory"}, nil},
	"internal/complete":   {[]string{"dedup", "store", "internal/lastused"}, nil},
	"internal/monitor":    {nil, []string{"github.com/prometheus/client_golang"}},
	"internal/cli":        {[]string{"internal/harmless", "internal/memory", "internal/monitor", "frontier", "crawler", "extract", "dedup", "store", "store/badger", "report", "feed", "internal/ingest", "internal/complete", "internal/language"}, []string{"github.com/spf13/pflag"}},
	"examples/dedup":      {[]string{"dedup"}, nil},                       // the libraries in use, a page each
	"examples/crawl":      {[]string{"crawler", "extract", "dedup"}, nil}, // the same
	"internal/bruteforce": {[]string{"dedup"}, nil},                       // a test tool over what skink printed
	"internal/labelpairs": {[]string{"extract"}, nil},                     // a tool that makes pairs for skink tune
	"internal/webgen":     {nil, nil},                                     // a web that is known, for the soak
	"internal/graft":      {[]string{"extract", "dedup"}, nil},            // a test tool: how steady the main text is
}

// pure packages may not reach the network, the disk, the clock or a log.
var pure = map[string]bool{"dedup": true, "extract": true, "internal/language": true, "internal/harmless": true}

var impure = []string{"net", "net/http", "os", "os/exec", "time", "log", "log/slog", "syscall", "io/ioutil"}

func TestImports(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || isModule(name)) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			checkFile(t, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isModule says whether a folder is a module of its own, which may import what it
// likes: nothing here imports it.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func checkFile(t *testing.T, name string) {
	t.Helper()
	folder := path.Dir(name)
	rule, ok := table[folder]
	if !ok {
		t.Errorf("%s: the folder %s is not in the import table", name, folder)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	if strings.HasSuffix(name, "_test.go") {
		return
	}
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if ours, ok := strings.CutPrefix(imported, "skink/"); ok && !slices.Contains(rule.ours, ours) {
			t.Errorf("%s imports %s, which the table does not allow in %s", name, imported, folder)
		}
		if home := homeOf(imported); home != "" && home != folder {
			t.Errorf("%s imports %s, whose home is %s", name, imported, home)
		}
		if pure[folder] && slices.Contains(impure, imported) {
			t.Errorf("%s imports %s, and %s is pure", name, imported, folder)
		}
	}
}

// homeOf is the folder in which a large dependency lives, "" if it is not one.
func homeOf(imported string) string {
	for folder, rule := range table {
		for _, heavy := range rule.heavy {
			if imported == heavy || strings.HasPrefix(imported, heavy+"/") {
				return folder
			}
		}
	}
	return ""
}
