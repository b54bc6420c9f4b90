package extract

import (
	"slices"
	"testing"
)

func TestLinks(t *testing.T) {
	for _, test := range []struct {
		name, page string
		want       []Link
	}{
		{"as written", `<a href="../a?b=1&amp;c=2#d">`, []Link{{Href: "../a?b=1&c=2#d"}}},
		{"white space", "<a href=' \n/a\t/b\r\n '>", []Link{{Href: "/a/b"}}},
		{"in order", `<a href=/2></a><map><area href=/1></map><iframe src=/3></iframe>`, []Link{{Href: "/2"}, {Href: "/1"}, {Href: "/3"}}},
		{"frames", `<frameset><frame src=/1><frame src=/2></frameset>`, []Link{{Href: "/1"}, {Href: "/2"}}},
		{"rel", `<a rel="noopener NoFollow" href=/1>`, []Link{{Href: "/1", Rel: "noopener NoFollow", NoFollow: true}}},
		{"once", `<a href=/1></a><a href=/1 rel=next></a><a href=/1></a>`, []Link{{Href: "/1"}, {Href: "/1", Rel: "next"}}},
		{"not pages", `<a href="JavaScript:x()"><a href="mailto:a@b"><a href=tel:1><a href="data:,x"><a href=#x><a href=""><a>`, nil},
		{"schemes and colons", `<a href="https://a/"><a href="a:b"><a href="/x:y"><a href="//h/p">`, []Link{{Href: "https://a/"}, {Href: "a:b"}, {Href: "/x:y"}, {Href: "//h/p"}}},
		{"scheme hidden by a tab", "<a href='java\tscript:x()'>", nil},
		{"in menus and hidden boxes", `<nav hidden><a href=/1>x</a></nav><button><a href=/2>y</a></button><noscript><a href=/3>z</a></noscript>`, []Link{{Href: "/1"}, {Href: "/2"}, {Href: "/3"}}},
		{"permalinks", `<h2>a <a href=/p>¶</a></h2>`, []Link{{Href: "/p"}}},
		{"refresh", `<meta http-equiv=Refresh content="0; URL = '/1'"><meta http-equiv=refresh content="5,/2"><meta http-equiv=refresh content=" 1.5 ;url=/3?a=b">`, []Link{{Href: "/1"}, {Href: "/2"}, {Href: "/3?a=b"}}},
		{"refresh of itself", `<meta http-equiv=refresh content=300><meta http-equiv=refresh content="0;"><meta http-equiv=refresh content="soon; url=/1"><meta http-equiv=refresh content="0;url=javascript:x()">`, nil},
		{"not in templates or scripts", `<template><a href=/1></a></template><script>"<a href=/2>"</script><!-- <a href=/3> -->`, nil},
	} {
		d, err := Parse([]byte("<!doctype html>"+test.page), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Links {
			d.Links[i].By, d.Links[i].Text = "", "" // tested in TestWhatLinksSay
		}
		if !slices.Equal(d.Links, test.want) {
			t.Errorf("%s: got %+v, want %+v", test.name, d.Links, test.want)
		}
	}
}
