package crawler

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"skink/crawler/access"
	"skink/crawler/folder"
)

// TestRefuse checks for each rule which purposes it applies to. The rules are tried with a URL that
// only this rule refuses.
func TestRefuse(t *testing.T) {
	all := []purpose{forPage, forSitemap, forRequisite, forProbe, forCheck, forRobots, forGuess, forDetour, forLogin, forPart}
	except := func(some ...purpose) []purpose {
		return slices.DeleteFunc(slices.Clone(all), func(p purpose) bool { return slices.Contains(some, p) })
	}
	inCrawl := []purpose{forPage, forSitemap, forProbe, forGuess}
	opt := &Options{
		MaxDepth: 3, Folders: []folder.Site{{Host: "docs.localhost"}},
		Scope: newScope(t, ScopeHost, []string{"/in/", "localhost"}, []string{"/print/"}, "http://a.test/", "http://a.test/seed/print/", "http://docs.localhost/"),
		Hosts: access.Table{
			{Pattern: "a.test", Basic: &access.Basic{User: "u"}, Exclude: []*regexp.Regexp{regexp.MustCompile("/slow/")}},
			{Pattern: "*.test", Exclude: []*regexp.Regexp{regexp.MustCompile("/wide/")}, Include: []*regexp.Regexp{regexp.MustCompile("/more/")}},
		},
	}
	opt.Scope.Obey(opt.Hosts)
	for _, c := range []struct {
		url, from string
		depth     int
		want      string
		purposes  []purpose
	}{
		{"http://a.test/", "", 0, "", nil},
		{"http://a.test/in/x", "", 3, "", nil},
		{"http://a.test/more/x", "", 1, "", nil},
		{"http://a.test/in/print/", "", 1, "exclude: matches the pattern /print/", except(forRobots, forLogin)},
		{"http://a.test/seed/print/", "", 0, "exclude: matches the pattern /print/", except(forRobots, forLogin)},
		{"http://a.test/in/slow/", "", 1, "exclude: matches the pattern /slow/", except(forRobots, forLogin)},
		{"http://a.test/in/wide/", "", 1, "exclude: matches the pattern /wide/", except(forRobots, forLogin)},
		{"http://a.test/in/x;logout", "", 1, "logout: the request may end the session or delete something", except(forRobots, forLogin)},
		{"http://a.test/out", "", 1, "include: matches none of the patterns", inCrawl},
		{"http://b.test/in/", "", 1, "scope: beyond --scope host", inCrawl},
		{"http://a.test/in/x", "", 4, "depth: beyond --max-depth 3", []purpose{forPage}},
		{"http://docs.localhost/x", "http://a.test/", 1, "folder: only pages of a folder may lead to its files", except(forLogin)},
		{"http://docs.localhost/x", "http://docs.localhost/", 1, "", nil},
	} {
		for _, p := range all {
			from, want := c.from, ""
			if from == "" {
				from = c.url
			}
			if slices.Contains(c.purposes, p) {
				want = c.want
			}
			same(t, fmt.Sprintf("%s from %q, depth %d, purpose %d", c.url, c.from, c.depth, p), string(opt.refuse(c.url, p, from, c.depth)), want)
		}
	}
}
