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

// requestGate lists the only files that may build a request or change its header. All requests of a
// crawl come from send.go.
var requestGate = map[string]string{
	"crawler/send.go":           "the gate of all requests",
	"crawler/cookies.go":        "adds the cookies of a host; called by the gate",
	"crawler/wire/transport.go": "NewRequest, which only the gate may call",
	"crawler/wire/proxy.go":     "asks a proxy for a tunnel",
	"feed/bulk.go":              "sends the feed to the user's own server",
}

// TestRequestGate checks that no other file of the module builds a request or changes its header.
func TestRequestGate(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || isModule(name)):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/tools/"):
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if what := makesRequest(name, n); what != "" {
				if used[name] = true; requestGate[name] == "" {
					t.Errorf("%s: %s: only crawler/send.go may build a request of the crawl", files.Position(n.Pos()), what)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range requestGate {
		if !used[name] {
			t.Errorf("%s builds no request, so it need not be in the table", name)
		}
	}
}

// makesRequest returns the expression with which a node of a file makes a request or changes its
// header, or "".
func makesRequest(file string, n ast.Node) string {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if s := selector(n.Type); s == "http.Request" || s == "http.Client" {
			return s
		}
	case *ast.SelectorExpr:
		full := selector(n)
		of, name, _ := strings.Cut(full, ".")
		switch {
		case of == "http" && slices.Contains([]string{"NewRequest", "NewRequestWithContext", "Get", "Head", "Post", "PostForm", "DefaultClient"}, name):
			return full
		case full == "wire.NewRequest", n.Sel.Name == "AddCookie", n.Sel.Name == "SetBasicAuth":
			return full
		}
	case *ast.CallExpr: // request.Header.Set and the like
		sends := slices.Contains([]string{"crawler", "crawler/wire"}, path.Dir(file))
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && sends && slices.Contains([]string{"Set", "Add", "Del"}, s.Sel.Name) {
			if header := selector(s.X); slices.Contains([]string{"r.Header", "req.Header", "request.Header", "Request.Header"}, header) {
				return header + "." + s.Sel.Name
			}
		}
	}
	return ""
}

// selector returns the last two names of an expression, such as "http.Request".
func selector(n ast.Expr) string {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	switch x := s.X.(type) {
	case *ast.Ident:
		return x.Name + "." + s.Sel.Name
	case *ast.SelectorExpr:
		return x.Sel.Name + "." + s.Sel.Name
	}
	return "." + s.Sel.Name
}
