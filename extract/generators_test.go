package extract_test

import (
	"path"
	"strings"
)

// A generator describes the pages of a documentation generator, and which elements of a page
// contain the text.
type generator struct {
	name      string
	container string   // selector of the elements that hold the text
	noText    string   // selector of the elements in the container that are not text
	repeats   string   // selector of the elements whose text the container repeats, and which are read once
	debian    []string // folders of pages in Debian packages; * is a wildcard
	indexes   string   // names of index pages, and of folders of index pages (ending in "/"), that the generator adds; * is a wildcard
}

var generators = []generator{
	{
		name:      "sphinx",
		container: "[role=main]",
		noText:    "a.headerlink, .linenos, .toctree-wrapper > ul, .contents.topic", // pilcrow signs for links, line numbers, tables of contents
		debian:    []string{"usr/share/doc/python3.*/html", "usr/share/developers-reference", "usr/share/doc/debian-policy/policy.html"},
		indexes:   "genindex py-modindex search",
	},
	{
		name:      "docbook",
		container: "body > div:not(.navheader):not(.navfooter):not(#navigation):not(#poptoc), body > section, body > article",
		noText:    ".toc", // tables of contents
		debian: []string{"usr/share/doc/postgresql-doc-*/html", "usr/share/doc/docbook-xsl-doc-html", "usr/share/doc/aptitude/html",
			"usr/share/doc/publican/Users_Guide/en-US/Publican/*/html/Users_Guide"},
	},
	{
		name:      "javadoc",
		container: "main",
		noText:    ".sub-title, .table-tabs", // breadcrumbs, buttons that filter a table
		debian:    []string{"usr/share/doc/openjdk-*-jre-headless/api", "usr/share/doc/libcommons-lang3-java/api", "usr/share/doc/libjsoup-java/api"},
		indexes:   "index-all index-files/ class-use/ allclasses-index allpackages-index overview-tree package-tree package-use help-doc search constant-values serialized-form deprecated-list",
	},
	{
		name:      "doxygen",
		container: "div.header, div.contents",
		noText:    ".header .summary, .lineno, .permalink, .ingroups, .ttc", // links to the page's own sections, line numbers, link signs, breadcrumbs, tool tips
		debian:    []string{"usr/share/doc/libeigen3-dev/html", "usr/share/doc/libopus-dev/html", "usr/share/doc/doxygen/html"},
		indexes:   "*-members dir_* annotated classes files functions* hierarchy index_* globals* namespaces modules pages inherits",
	},
	{
		name:      "mkdocs",
		container: "[role=main], article.md-content__inner",
		noText:    "a.headerlink", // pilcrow signs for links
		debian:    []string{"usr/share/doc/mkdocs/html"},
		indexes:   "404 search",
	},
	{
		name:      "hugo",
		container: "article.markdown, .post-title, .post-content",
		noText:    ".lnt", // line numbers
	},
	{
		name:      "mediawiki",
		container: "#firstHeading, #mw-content-text",
		noText:    ".mw-editsection, .toc, .printfooter", // edit links, tables of contents, the page's own address
	},
	{
		name:      "wordpress",
		container: ".entry-title, .entry-content, .wp-block-post-title",
	},
	{
		name:      "dokuwiki",
		container: "#dokuwiki__content .page",
		noText:    "#dw__toc, .secedit", // tables of contents, edit buttons
	},
	{
		name:      "docusaurus",
		container: ".theme-doc-markdown, #__blog-post-container, article > header > h1",
		noText:    "button", // buttons that copy code
	},
	{
		name:      "asciidoc",
		container: "#header > h1, .manpage #header, #content, #footnotes",
		noText:    "#toc",
		debian:    []string{"usr/share/doc/git-doc"},
	},
	{
		name:      "haddock",
		container: "#content",
		noText:    "#table-of-contents, #synopsis, #module-header .info, a.selflink, a.link", // the synopsis repeats the interface
		debian:    []string{"usr/share/doc/libghc-*-doc/html"},
		indexes:   "doc-index* src/",
	},
	{
		name:      "gtk-doc",
		container: "div.refentry, div.chapter, div.section, div.book, div.part, div.reference, div.glossary",
		noText:    ".toc, .listing_lines",
		debian:    []string{"usr/share/gtk-doc/html"},
		indexes:   "api-index-* *-hierarchy annotation-glossary",
	},
	{
		name:      "gi-docgen",
		container: "#main",
		noText:    "#toc, .anchor, h4.anchored > a, .srclink",
		debian:    []string{"usr/share/doc/gtksourceview5"},
	},
	{
		name:      "apache",
		container: "#page-content",
		noText:    ".toplang, .bottomlang, #quickview, .top",
		debian:    []string{"usr/share/doc/apache2-doc/manual/en", "usr/share/doc/apache2-doc/manual/ja"},
		indexes:   "quickreference sitemap",
	},
	{
		name:      "rdoc",
		container: "main",
		noText:    ".method-source-code, .method-click-advice, h1 > span, h2 > span, h3 > span", // source that is shown on a click
		debian:    []string{"usr/share/doc/asciidoctor-doc/html"},
		indexes:   "table_of_contents",
	},
	{
		name:      "odoc",
		container: "header.odoc-preamble, div.odoc-content",
		noText:    "a.anchor, a.source_link",
		debian:    []string{"usr/share/doc/libcalendar-ocaml/_html"},
	},
	{
		name:      "qdoc",
		container: "div.context, div.content div.content, h1.title",
		noText:    ".toc, .sidebar",
		debian:    []string{"usr/share/qt5/doc"},
		indexes:   "*-members",
	},
	{
		name:      "crystal",
		container: ".main-content",
		noText:    ".methods-inherited, a.method-permalink, a.anchor, .superclass-hierarchy",
		debian:    []string{"usr/share/doc/crystal/api-docs"},
	},
	{
		name:      "nim",
		container: "h1.title, #content",
		noText:    "#toc-list, .sourceLink, .link-seesrc, .link-source",
		debian:    []string{"usr/share/doc/nim/html"},
		indexes:   "theindex",
	},
	{
		name:      "texinfo",
		container: "body",
		noText:    ".header, .nav-panel, .Contents_element, .contents, .section-toc, .printindex",
		debian:    []string{"usr/share/R/doc/manual"},
	},
	{
		name:      "ldoc",
		container: "#content",
		debian:    []string{"usr/share/doc/lua-ldoc/html"},
	},
	{
		name:      "ikiwiki",
		container: "#pagebody",
		noText:    ".toc, .infobox, .feedlink",
		debian:    []string{"usr/share/doc/ikiwiki/html"},
	},
	{
		name:      "gitweb",
		container: "body",
		noText:    "title, .page_header, form, .page_nav, .page_footer, .list_head, .link, .log_link, .refs, .linenr, .extra_blob_info, #generating_info", // navigation, and links beside each entry
		repeats:   ".header",                                                                                                                              // the first line of a message, above the message
	},
	{
		name:      "typedoc",
		container: ".col-content",
		noText:    ".tsd-breadcrumb, .tsd-anchor-icon, .tsd-sources", // path, link signs, links to the source
	},
	{
		name:      "fossil",
		container: "div.content",
		noText:    ".submenu, form, .diffln, .smb-link", // links to other views, line numbers
	},
	{
		name:      "jsdoc",
		container: "#main",
		noText:    ".details .tag-source", // links to the source
	},
	{
		name:      "yard",
		container: "#content",
		noText:    ".summary_toggle, .showSource, .source_code, #toc", // source that is shown on a click
	},
	{
		name:      "jekyll",
		container: ".post-title, .post-content",
	},
	{
		name:      "hexo",
		container: ".article-entry, .article-title",
		noText:    ".headerlink, .gutter", // link signs, line numbers
	},
	{
		name:      "gitit",
		container: "#wikipage",
		noText:    "#TOC",
	},
}

// isIndex reports whether a page is an index that the generator adds.
func (g generator) isIndex(name string) bool {
	base := strings.TrimSuffix(name[strings.LastIndex(name, "/")+1:], ".html")
	for index := range strings.FieldsSeq(g.indexes) {
		if folder, ok := strings.CutSuffix(index, "/"); ok && strings.Contains(name, "/"+folder+"/") {
			return true
		}
		if match, _ := path.Match(index, base); match {
			return true
		}
	}
	return false
}
