package e2e

import (
	"go/ast"
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

// table lists, for each folder, the packages of this module that it may import (ours), and the
// large dependencies that only this folder, or few folders, may import (heavy). Tests may also import packages for
// testing. Every folder must be in the table.
var table = map[string]struct {
	ours  []string
	heavy []string
}{
	".":                           {[]string{"internal/cli"}, nil},
	"docs":                        {nil, nil}, // the embedded pages of the manual
	"frontier":                    {nil, []string{"github.com/nlnwa/whatwg-url"}},
	"crawler/robots":              {nil, nil},
	"crawler/sitemap":             {[]string{"base/harmless"}, nil},
	"crawler/learn":               {[]string{"base/splitmix", "frontier"}, nil},
	"crawler/wire":                {[]string{"crawler/folder", "frontier"}, nil},
	"internal/tools/wiretest":     {nil, nil},
	"crawler/captcha":             {nil, nil},
	"crawler/folder":              {nil, nil},
	"crawler/access":              {[]string{"extract/selector", "frontier"}, nil},
	"crawler/render":              {[]string{"base/lock"}, nil},
	"crawler/hostile":             {nil, nil}, // this package has only tests
	"internal/e2e":                {nil, nil}, // this package has only tests
	"crawler":                     {[]string{"frontier", "crawler/access", "crawler/robots", "crawler/wire", "crawler/render", "base/lru", "base/harmless", "base/node", "crawler/folder", "base/priority", "crawler/sitemap", "crawler/captcha", "crawler/learn"}, []string{"github.com/gocolly/colly"}},
	"base/node":                   {nil, nil},
	"extract/markup":              {[]string{"base/node"}, nil},
	"extract/passage":             {[]string{"dedup/language", "base/splitmix"}, nil},
	"extract/selector":            {[]string{"base/node"}, []string{"github.com/andybalholm/cascadia"}},
	"extract/stylesheet":          {nil, []string{"github.com/tdewolff/parse/v2"}},
	"extract/tree":                {nil, nil},
	"extract":                     {[]string{"extract/markup", "extract/tree", "base/node", "extract/selector", "extract/stylesheet", "dedup/language"}, []string{"github.com/PuerkitoBio/goquery"}},
	"document":                    {[]string{"document/pdf", "extract"}, nil},
	"document/pdf":                {nil, []string{"github.com/klippa-app/go-pdfium", "github.com/tetratelabs/wazero"}},
	"dedup":                       {[]string{"base/splitmix"}, nil},
	"store":                       {[]string{"dedup", "frontier", "base/field"}, nil},
	"internal/tools/storetest":    {[]string{"store", "dedup", "frontier"}, nil},
	"store/badger/postings":       {[]string{"store", "base/field", "base/splitmix"}, nil},
	"store/disk":                  {[]string{"store"}, nil},
	"store/badger":                {[]string{"store", "base/batcher", "base/field", "base/lru", "store/disk", "base/lock", "store/badger/postings", "dedup", "frontier", "base/priority"}, []string{"github.com/dgraph-io/badger"}},
	"store/postgres":              {[]string{"store", "base/batcher", "base/lru", "dedup", "frontier"}, []string{"github.com/jackc/pgx/v5/pgxpool"}},
	"internal/tools/postgrestest": {nil, nil}, // starts servers for tests
	"store/remote":                {[]string{"store", "store/disk", "dedup", "frontier"}, nil},
	"warc":                        {nil, nil},
	"report":                      {[]string{"store", "dedup", "store/precedence", "dedup/align", "base/harmless", "base/segment", "crawler/learn"}, []string{"github.com/xuri/excelize/v2"}},
	"report/audit":                {[]string{"extract/markup", "report", "store", "store/precedence", "dedup", "frontier", "base/harmless", "base/segment", "crawler/learn"}, nil},
	"feed/release":                {[]string{"base/segment", "dedup", "store"}, nil},
	"feed":                        {[]string{"feed/release", "warc", "store", "dedup", "extract", "extract/passage", "frontier", "base/harmless", "base/table"}, nil},
	"view":                        {[]string{"store", "frontier", "extract", "report", "report/audit", "dedup", "crawler/learn", "base/harmless", "base/loopback", "base/segment"}, nil},
	"dedup/language":              {nil, nil},
	"base/harmless":               {nil, nil},
	"base/lock":                   {nil, nil},
	"base/batcher":                {nil, nil},
	"base/lru":                    {nil, nil},
	"base/field":                  {nil, nil},
	"base/priority":               {nil, nil},
	"base/splitmix":               {nil, nil},
	"base/segment":                {nil, nil},
	"store/precedence":            {[]string{"store"}, nil},
	"internal/memory":             {nil, nil},
	"internal/bucket":             {nil, []string{"github.com/minio/minio-go/v7"}},
	"internal/tools/buckettest":   {nil, nil}, // this package starts servers for tests
	"base/loopback":               {nil, nil},
	"internal/output":             {[]string{"internal/bucket", "base/lock"}, nil},
	"base/table":                  {nil, []string{"github.com/parquet-go/parquet-go"}},
	"store/overlay":               {[]string{"dedup", "store"}, nil},
	"dedup/align":                 {[]string{"dedup"}, nil},
	"dedup/rivals":                {[]string{"dedup", "dedup/language"}, nil},
	"internal/ingest":             {[]string{"frontier", "crawler", "crawler/robots", "extract", "extract/selector", "extract/markup", "extract/stylesheet", "document", "dedup", "store", "internal/corpus", "base/batcher", "base/lru", "internal/memory", "store/precedence", "crawler/learn", "crawler/sitemap", "dedup/language"}, nil},
	"internal/corpus":             {[]string{"internal/bucket", "internal/output", "extract", "document", "base/table", "base/harmless", "crawler", "crawler/render", "crawler/wire", "frontier", "store", "warc"}, nil},
	"internal/candidates":         {[]string{"dedup", "extract", "internal/corpus", "internal/ingest", "internal/join", "report"}, nil},
	"internal/newest":             {[]string{"dedup", "document", "extract", "internal/corpus", "internal/ingest", "internal/join"}, nil},
	"internal/decontaminate":      {[]string{"base/harmless", "dedup", "extract", "internal/corpus", "report"}, nil},
	"internal/archive":            {[]string{"crawler", "crawler/wire", "dedup", "frontier", "internal/corpus", "internal/ingest", "store", "store/disk", "warc", "base/batcher", "base/lock"}, nil},
	"internal/within":             {[]string{"base/splitmix", "dedup", "document", "extract", "extract/passage", "internal/corpus", "internal/ingest", "internal/join", "internal/output", "store", "store/precedence"}, nil},
	"internal/join":               {[]string{"dedup", "store", "base/lru", "base/priority", "internal/output", "store/disk"}, nil},
	"internal/complete":           {[]string{"report/audit", "dedup", "store", "base/lru", "internal/join", "internal/memory", "store/precedence"}, nil},
	"internal/monitor":            {[]string{"base/loopback"}, []string{"github.com/prometheus/client_golang"}},
	"internal/session":            {[]string{"internal/output", "crawler", "crawler/access", "crawler/folder", "crawler/learn", "crawler/wire", "dedup", "document", "extract", "extract/selector", "feed", "feed/release", "frontier", "internal/archive", "internal/bucket", "internal/complete", "internal/corpus", "store/disk", "base/harmless", "internal/ingest", "internal/memory", "internal/monitor", "store/precedence", "report", "report/audit", "store", "store/remote", "view", "warc"}, nil},
	"crawl":                       {[]string{"crawler", "frontier", "internal/output", "internal/session", "store", "store/badger"}, nil},
	"internal/cli":                {[]string{"internal/output", "docs", "crawler", "crawler/robots", "crawler/wire", "dedup", "dedup/rivals", "document", "extract", "extract/selector", "feed", "feed/release", "frontier", "internal/archive", "internal/bucket", "internal/candidates", "internal/complete", "internal/corpus", "internal/decontaminate", "store/disk", "base/harmless", "base/segment", "internal/ingest", "base/loopback", "internal/memory", "internal/monitor", "internal/session", "internal/join", "internal/newest", "internal/within", "report", "report/audit", "store", "store/badger", "store/overlay", "store/postgres", "store/remote", "view", "warc", "crawler/access", "internal/config"}, []string{"github.com/spf13/pflag"}},
	"internal/config":             {[]string{"base/segment", "crawler/access", "store/disk"}, []string{"github.com/pelletier/go-toml/v2", "github.com/spf13/pflag"}},
	"examples/dedup":              {[]string{"dedup"}, nil},                                          // an example of the libraries on one page
	"examples/published":          {[]string{"dedup", "dedup/language", "extract"}, nil},             // systems of the literature, on the library
	"examples/crawl":              {[]string{"crawl", "store", "store/badger"}, nil},                 // an example of the libraries on one page
	"examples/index":              {[]string{"dedup"}, nil},                                          // the same
	"examples/markdown":           {[]string{"extract"}, nil},                                        // the same
	"examples/resume":             {[]string{"crawl", "store", "store/badger"}, nil},                 // the same
	"examples/warc":               {[]string{"extract", "warc"}, nil},                                // the same
	"internal/tools/bruteforce":   {[]string{"dedup"}, nil},                                          // a test tool that checks the output of skink
	"internal/tools/labelpairs":   {[]string{"extract"}, []string{"github.com/PuerkitoBio/goquery"}}, // a tool that makes labeled pairs for skink tune
	"internal/tools/webgen":       {nil, nil},                                                        // a test tool that serves a generated web with known properties
	"internal/tools/websites":     {nil, nil},                                                        // a test tool that serves generated sites, for testing how a crawl learns
	"internal/tools/graft":        {[]string{"extract", "dedup"}, nil},                               // a test tool that measures how stable the main text is
}

// pure lists the packages that must not use the network, the disk, the clock or a log. They may use
// the parts of package time that do not read the clock, such as durations.
var pure = map[string]bool{"dedup": true, "dedup/align": true, "dedup/rivals": true, "extract": true, "extract/markup": true, "base/node": true, "extract/passage": true, "extract/stylesheet": true, "extract/tree": true, "crawler/robots": true, "crawler/sitemap": true, "crawler/captcha": true, "crawler/learn": true, "dedup/language": true, "base/harmless": true, "warc": true, "store/precedence": true, "base/splitmix": true}

var (
	impure = []string{"net", "net/http", "os", "os/exec", "log", "log/slog", "syscall", "io/ioutil"}
	clock  = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
)

// A granted is a permission of the table.
type granted struct{ folder, imported string }

func TestImports(t *testing.T) {
	used := make(map[granted]bool)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || isModule(name)) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			checkFile(t, filepath.ToSlash(name), used)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, rule := range table {
		for _, imported := range slices.Concat(rule.ours, rule.heavy) {
			if !used[granted{folder, imported}] {
				t.Errorf("the table allows %s in %s, and nothing there imports it", imported, folder)
			}
		}
	}
}

// isModule reports whether a folder is a separate module. Such a folder may import any package,
// because this module does not import it.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// checkFile checks the imports of a file against the table, and adds the permissions that it needs
// to used.
func checkFile(t *testing.T, name string, used map[granted]bool) {
	t.Helper()
	folder := path.Dir(name)
	rule, ok := table[folder]
	if !ok {
		t.Errorf("%s: the folder %s is not in the import table", name, folder)
		return
	}
	if strings.HasSuffix(name, "_test.go") {
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if ours, ok := strings.CutPrefix(imported, module(t)+"/"); ok {
			used[granted{folder, ours}] = true
			if runsUp(folder, ours) {
				t.Errorf("%s imports %s: libraries do not import the application, and base imports nothing", name, imported)
			}
			if !slices.Contains(rule.ours, ours) {
				t.Errorf("%s imports %s, which the table does not allow in %s", name, imported, folder)
			}
		}
		if heavy, home := homeOf(imported); home != "" {
			used[granted{folder, heavy}] = true
			if !slices.Contains(rule.heavy, heavy) {
				t.Errorf("%s imports %s, whose home is %s", name, imported, home)
			}
		}
		if pure[folder] && slices.Contains(impure, imported) {
			t.Errorf("%s imports %s, and %s is pure", name, imported, folder)
		}
	}
	if pure[folder] {
		checkClock(t, name, f)
	}
}

// runsUp reports whether an import leads from a library to the application, or from base to a library. The
// application is main.go and the folders crawl and internal.
func runsUp(folder, imported string) bool {
	application := folder == "." || folder == "crawl" || strings.HasPrefix(folder, "internal/")
	ground := strings.HasPrefix(folder, "base/")
	return strings.HasPrefix(imported, "internal/") && !application || ground
}

// checkClock reports an error for each use of the clock in a file.
func checkClock(t *testing.T, name string, f *ast.File) {
	t.Helper()
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(clock, s.Sel.Name) {
			if of, ok := s.X.(*ast.Ident); ok && of.Name == "time" {
				t.Errorf("%s uses time.%s, and %s is pure", name, s.Sel.Name, path.Dir(name))
			}
		}
		return true
	})
}

// homeOf returns the large dependency to which imported belongs, and the folder that may import it.
// It returns "" if there is none.
func homeOf(imported string) (heavy, folder string) {
	for folder, rule := range table {
		for _, heavy := range rule.heavy {
			if imported == heavy || strings.HasPrefix(imported, heavy+"/") {
				return heavy, folder
			}
		}
	}
	return "", ""
}
