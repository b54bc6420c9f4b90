package crawler

import (
	"net/http"
	"testing"

	"skink/crawler/wire"
	"skink/frontier"
)

func TestRefreshIsRedirect(t *testing.T) {
	const html, plain = "text/html", "text/plain"
	for _, c := range []struct{ name, kind, header, body, want, rendered string }{
		{"header", html, "0; url=t", "", "http://a.test/d/t", "http://a.test/d/t"},
		{"header of a text", plain, "0; url=/t", "", "http://a.test/t", "http://a.test/t"},
		{"long wait", html, "11; url=/t", "", "", ""},
		{"reload", html, "5", "", "", ""},
		{"reload by its URL", html, "5; url=page#top", "", "", ""},
		{"no page", html, "5; url=mailto:me@a.test", "", "", ""},
		{"element", html, "", `<META HTTP-EQUIV=Refresh CONTENT="10;URL=/t">`, "http://a.test/t", "http://a.test/t"},
		{"after a reload", html, "", `<meta http-equiv=refresh content=4><meta http-equiv=refresh content="0;/t">`, "http://a.test/t", "http://a.test/t"},
		{"base", html, "", `<base href=/b/><body><p>x</p><meta http-equiv=refresh content="0;url=t">`, "http://a.test/b/t", "http://a.test/b/t"},
		{"noscript", html, "", `<noscript><meta http-equiv=refresh content="0;url='/t'"></noscript>`, "http://a.test/t", ""},
		{"header without url=", html, "3;/t", "", "http://a.test/t", "http://a.test/t"},
		{"header with a comma and quotes", html, "0, URL='t'; x", "", "http://a.test/d/t", "http://a.test/d/t"},
		{"header with a fraction", html, "9.9;url=/t", "", "http://a.test/t", "http://a.test/t"},
		{"header without seconds", html, "url=/t", "", "", ""},
		{"blanks", html, "", "<meta http-equiv=refresh content='\n 0 ;\turl = /u '>", "http://a.test/u", "http://a.test/u"},
		{"template", html, "", `<template><meta http-equiv=refresh content="0;url=/t"></template>`, "", ""},
		{"comment", html, "", `<!-- <meta http-equiv=refresh content="0;url=/t"> --><textarea><meta http-equiv=refresh content="0;url=/t"></textarea>`, "", ""},
		{"after other elements", html, "", `<meta http-equiv=Content-Type content="text/html"><q>x</q><meta hTTp-eQuiv = "&#114;efresh" content="0;url=/t">`, "http://a.test/t", "http://a.test/t"},
		{"element of a text", plain, "", `<meta http-equiv=refresh content="0;url=/t">`, "", ""},
	} {
		for rendered, want := range map[bool]string{false: c.want, true: c.rendered} {
			p := &Page{Item: frontier.Item{URL: "http://a.test/d/page"}}
			header := http.Header{"Content-Type": {c.kind}}
			if c.header != "" {
				header.Set("Refresh", c.header)
			}
			p.fill(&wire.Exchange{Status: 200, Header: header, Body: []byte(c.body)}, rendered)
			if p.Location != want {
				t.Errorf("%s (rendered: %v): leads to %q, want %q", c.name, rendered, p.Location, want)
			}
		}
	}
}
