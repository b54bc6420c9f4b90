package crawler

import (
	"fmt"
	"sync"
	"testing"
)

func newScope(t testing.TB, kind string, include, exclude []string, seeds ...string) *Scope {
	t.Helper()
	s, err := NewScope(kind, include, exclude)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range seeds {
		s.AddSeed(u)
	}
	return s
}

func TestScope(t *testing.T) {
	for _, c := range []struct {
		kind, seed string
		in, out    []string
	}{
		{ScopeHost, "http://example.com/a/b",
			[]string{"http://example.com/", "https://example.com/c?d=/e", "http://example.com/a/b"},
			[]string{"http://www.example.com/", "http://example.com:8080/", "http://example.org/", "http://example.com.evil.test/", "http://evil.test/?example.com/"}},
		{ScopeHost, "http://example.com:8080/",
			[]string{"http://example.com:8080/x", "https://example.com:8080/"},
			[]string{"http://example.com/", "http://example.com:80800/"}},
		{ScopeHost, "http://127.0.0.1:8080/", []string{"http://127.0.0.1:8080/x"}, []string{"http://127.0.0.1/", "http://127.0.0.2:8080/"}},
		{ScopeDomain, "http://www.example.co.uk/",
			[]string{"http://example.co.uk/", "https://a.b.example.co.uk:99/", "http://www.example.co.uk/x"},
			[]string{"http://other.co.uk/", "http://co.uk/", "http://badexample.co.uk/", "http://example.co.uk.evil.test/"}},
		{ScopeDomain, "http://one.github.io/", []string{"http://one.github.io/x"}, []string{"http://two.github.io/", "http://github.io/"}},
		{ScopeDomain, "http://127.0.0.1:8080/", []string{"http://127.0.0.1:8080/", "http://127.0.0.1:9/"}, []string{"http://1.127.0.0/", "http://127.0.0.2:8080/"}},
		{ScopePrefix, "http://example.com/docs/",
			[]string{"http://example.com/docs/", "http://example.com/docs/a", "http://example.com/docs/a/b?c=/d", "http://example.com/docs/?q"},
			[]string{"http://example.com/", "http://example.com/docs", "http://example.com/docsx/", "https://example.com/docs/", "http://example.com/?u=http://example.com/docs/", "http://example.com:8080/docs/"}},
		// The prefix ends with the last slash of the path, so the name of the seed's file does not
		// matter.
		{ScopePrefix, "http://example.com/docs", []string{"http://example.com/docs", "http://example.com/other/x"}, []string{"http://example.org/"}},
		{ScopePrefix, "http://example.com/docs/index.html?a=/b/", []string{"http://example.com/docs/x"}, []string{"http://example.com/", "http://example.com/docs"}},
		{ScopePrefix, "http://example.com/", []string{"http://example.com/any/where"}, []string{"http://example.com.evil.test/"}},
		{ScopeAny, "http://example.com/", []string{"http://elsewhere.test:1/x"}, nil},
	} {
		s := newScope(t, c.kind, nil, nil, c.seed)
		for _, u := range c.in {
			if !s.Contains(u) {
				t.Errorf("%s of %s leaves out %s", c.kind, c.seed, u)
			}
		}
		for _, u := range c.out {
			if s.Contains(u) {
				t.Errorf("%s of %s lets in %s", c.kind, c.seed, u)
			}
		}
	}
}

func TestScopePatterns(t *testing.T) {
	for _, c := range []struct {
		include, exclude []string
		url              string
		want             bool
	}{
		{nil, nil, "http://a.test/x", true},
		{[]string{"/blog/"}, nil, "http://a.test/blog/1", true},
		{[]string{"/blog/"}, nil, "http://a.test/shop/1", false},
		{[]string{"/blog/", "^http://a.test/s"}, nil, "http://a.test/shop/1", true},
		{nil, []string{`\.pdf$`}, "http://a.test/x.pdf", false},
		{nil, []string{`\.pdf$`}, "http://a.test/x.pdf?1", true},
		{[]string{"/blog/"}, []string{"print"}, "http://a.test/blog/print", false},
		{[]string{"elsewhere"}, nil, "http://elsewhere.test/", false}, // a scope of this kind does not include other hosts
		{[]string{"/blog/"}, nil, "http://a.test/index", true},        // a seed need not match
		{nil, []string{"index"}, "http://a.test/index", false},        // but it can be excluded
	} {
		s := newScope(t, ScopeHost, c.include, c.exclude, "http://a.test/index")
		if got := s.Contains(c.url); got != c.want {
			t.Errorf("include %q, exclude %q: %s is in: %v, want %v", c.include, c.exclude, c.url, got, c.want)
		}
	}
}

func TestScopeMoved(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"http://example.com/", "https://example.com/", true},
		{"http://example.com/", "https://www.example.com/start", true},
		{"http://www.example.co.uk/", "http://shop.example.co.uk/", true},
		{"http://example.com/", "http://example.org/", false},
		{"http://one.github.io/", "http://two.github.io/", false},
	} {
		s := newScope(t, ScopeHost, []string{"/blog/"}, nil, c.from)
		if got := s.Moved(c.from, c.to); got != c.want {
			t.Errorf("%s moved to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestScopeErrors(t *testing.T) {
	for _, c := range []struct {
		kind             string
		include, exclude []string
		want             string
	}{
		{"site", nil, nil, `unknown scope "site": must be host, domain, prefix or any`},
		{"host", []string{"("}, nil, "include pattern \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`"},
		{"host", nil, []string{"a", "["}, "exclude pattern \"[\" is not a regular expression: error parsing regexp: missing closing ]: `[`"},
	} {
		if _, err := NewScope(c.kind, c.include, c.exclude); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// Seeds can be added while other goroutines use the scope, because a site may move during a crawl.
func TestScopeAtOnce(t *testing.T) {
	s := newScope(t, ScopePrefix, nil, nil)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for k := range 100 {
				u := fmt.Sprintf("http://h%d.test/%d/", i, k)
				s.AddSeed(u)
				if !s.Contains(u + "x") {
					t.Errorf("%sx is not in", u)
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkScope(b *testing.B) {
	for _, kind := range []string{ScopeHost, ScopeDomain, ScopePrefix} {
		s := newScope(b, kind, nil, nil, "https://www.example.co.uk/docs/", "https://example.org/")
		for _, u := range []string{"https://www.example.co.uk/docs/a/b", "https://blog.example.co.uk/docs/a/b", "https://elsewhere.test/"} {
			b.Run(kind+" "+u, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Contains(u)
				}
			})
		}
	}
}
