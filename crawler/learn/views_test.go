package learn

import (
	"strings"
	"testing"
)

// Views are recognized by the exact URLs of the software. Similar URLs are not views.
func TestViewOf(t *testing.T) {
	for url, want := range map[string]string{
		"/index.php?title=Lamp&action=edit":            "MediaWiki action",
		"/wiki/Lamp?action=history":                    "MediaWiki action",
		"/wiki/Lamp?veaction=edit":                     "MediaWiki action",
		"/index.php?title=Lamp&oldid=17":               "MediaWiki revision",
		"/index.php?title=Lamp&diff=prev&oldid=17":     "MediaWiki revision",
		"/index.php?title=Lamp&printable=yes":          "MediaWiki printable page",
		"/wiki/Special:WhatLinksHere/Lamp":             "MediaWiki special page",
		"/index.php?title=Special:UserLogin&returnto=": "MediaWiki special page",
		"/wiki/Lamp":                                "",
		"/wiki/Special_relativity":                  "",
		"/index.php?title=Lamp":                     "",
		"/index.php?title=Lamp&action=view":         "",
		"/order?action=edit":                        "",
		"/archive?oldid=17":                         "",
		"/doku.php?id=start&do=revisions":           "DokuWiki action",
		"/doku.php?id=start&rev=1770000000":         "DokuWiki revision",
		"/doku.php?id=start&idx=wiki":               "DokuWiki index",
		"/doku.php?id=start":                        "",
		"/doku.php?id=start&do=show":                "",
		"/plans?rev=12":                             "",
		"/2026/04/title/?replytocom=18":             "WordPress reply form",
		"/2026/04/title/?replytocom=all":            "",
		"/2026/04/title/feed/":                      "WordPress feed",
		"/feed/":                                    "",
		"/pub/?C=N;O=D":                             "directory listing in another order",
		"/pub/?C=M&O=A":                             "directory listing in another order",
		"/pub/?C=N;O=D;V=1":                         "",
		"/products?C=N;O=D":                         "",
		"/issues/17.pdf":                            "Redmine export",
		"/projects/a/issues.csv?sort=status":        "Redmine export",
		"/issues/17":                                "",
		"/papers/17.pdf":                            "",
		"/repo.git/patch/?id=3a081355329322d830":    "cgit view",
		"/repo.git/blame/src/a.c?h=main":            "cgit view",
		"/repo.git/commit/?id=3a081355329322d830":   "",
		"/recipes/plain/bread":                      "",
		"/gitweb/?p=a.git;a=blob_plain;f=x;hb=HEAD": "gitweb view",
		"/gitweb/?p=a.git;a=commit;h=3a08":          "",
	} {
		path, text, _ := strings.Cut(url, "?")
		if got := viewOf(path, query(text)); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
