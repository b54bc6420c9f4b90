package learn

import (
	"regexp"
	"strings"
)

// # Views of pages in well-known software
//
// Wikis, blogs and repositories show each of their pages in many ways, such as an edit form, a
// history, an older version, or a list in another order. Most of these views have their own text,
// so their patterns would never lose their budget, and there are many views of each page. So
// views are recognized by their URLs. They are the only URLs that are postponed without evidence.
// At first, one in 1<<viewRate views is fetched as a sample, even if samples give new text.
//
// The rows of the table are exact. Each name and value must be in the documentation of the
// software, and the rest of the URL must match the software too. Views that the table misses, such
// as special pages with names in other languages, are treated like other pages.
const viewRate = 4

// A view recognizes the URLs of one kind of view of a page in one piece of software. Its expressions
// match the path and the query of a URL.
type view struct {
	name   string         // names of the software and the view
	source string         // URL, without its scheme, of the documentation or source code
	has    string         // text that every such URL has, because a search for it is fast
	in     *regexp.Regexp // recognizes URLs of the software; nil if form is enough
	form   *regexp.Regexp
}

var (
	mediaWiki = regexp.MustCompile(`^/wiki/|^[^?]*/index\.php[/?]|[?&;]title(?:[=&;]|$)`)
	dokuWiki  = regexp.MustCompile(`^[^?]*/doku\.php[/?]|[?&;](?:id(?:[=&;]|$)|do=export_(?:xhtml|raw)(?:[&;]|$))`)
	gitweb    = regexp.MustCompile(`[?&;]p(?:[=&;]|$)`)
)

// with matches URLs with one of the given parameters, each an expression such as a=b|c=d.
func with(parameters string) *regexp.Regexp {
	return regexp.MustCompile(`\?(?:.*[&;])?(?:` + parameters + `)(?:[&;]|$)`)
}

const manual = "www.mediawiki.org/wiki/Manual:Parameters_to_index.php"

var views = []view{
	{"MediaWiki action", manual, "action=", mediaWiki, with(`action=(?:edit|submit|history|info|raw|delete|protect|unprotect|watch|unwatch|purge|rollback|revert|markpatrolled|credits)|veaction=(?:edit|editsource)`)},
	{"MediaWiki revision", manual, "oldid=", mediaWiki, with(`oldid=\d+`)},
	{"MediaWiki revision", manual, "diff=", mediaWiki, with(`diff=(?:prev|next|cur|\d+)`)},
	{"MediaWiki printable page", manual, "printable=yes", mediaWiki, with(`printable=yes`)},
	{"MediaWiki special page", "www.mediawiki.org/wiki/Help:Special_pages", "Special", nil, regexp.MustCompile(`^[^?]*/Special(?::|%3[Aa])|[?&;]title=(?:[^&;]*/)?Special(?::|%3[Aa])`)},
	{"DokuWiki action", "www.dokuwiki.org/devel:action_modes", "do=", dokuWiki, with(`do=(?:admin|backlink|check|diff|draft|edit|export_pdf|export_raw|export_xhtml|export_xhtmlbody|index|login|logout|media|preview|profile|recent|register|resendpwd|revert|revisions|save|search|subscribe|unsubscribe)`)},
	{"DokuWiki revision", "www.dokuwiki.org/devel:environment", "rev=", dokuWiki, with(`rev=\d{9,}`)},
	{"DokuWiki index", "www.dokuwiki.org/index", "idx", dokuWiki, with(`idx(?:=[^&;]*)?`)},
	{"WordPress reply form", "developer.wordpress.org/reference/functions/get_comment_reply_link", "replytocom=", nil, with(`replytocom=\d+`)},
	{"WordPress feed", "wordpress.org/documentation/article/wordpress-feeds", "/feed", nil, regexp.MustCompile(`^/[^?]*/feed(?:/(?:rdf|rss2?|atom))?/?$`)},
	{"directory listing in another order", "httpd.apache.org/docs/2.4/mod/mod_autoindex.html", "C=", nil, regexp.MustCompile(`^[^?]*/\?(?:C=[NMSD][&;]O=[AD]|O=[AD][&;]C=[NMSD])$`)},
	{"Redmine export", "www.redmine.org/projects/redmine/wiki/Rest_api", "/issues", nil, regexp.MustCompile(`^[^?]*/issues(?:/\d+)?\.(?:atom|csv|pdf|json|xml)(?:\?|$)`)},
	{"cgit view", "git.zx2c4.com/cgit/tree/cmd.c", "/rawdiff/", nil, regexp.MustCompile(`^[^?]*/rawdiff/`)},
	{"cgit view", "git.zx2c4.com/cgit/tree/cmd.c", "/snapshot/", nil, regexp.MustCompile(`^[^?]*/snapshot/[^?]*\.(?:tar(?:\.(?:gz|bz2|lz|xz|zst))?|zip)(?:\?|$)`)},
	{"cgit view", "git.zx2c4.com/cgit/tree/cmd.c", "?", regexp.MustCompile(`^[^?]*/(?:blame|patch|plain)/`), with(`id=[0-9A-Fa-f]{7,}|h(?:=[^&;]*)?`)},
	{"gitweb view", "git-scm.com/docs/gitweb", "a=", gitweb, with(`a=(?:atom|blame|blame_data|blame_incremental|blob_plain|blobdiff_plain|commitdiff_plain|opml|patch|patches|project_index|rss|snapshot)`)},
}

// viewOf returns the name of the view that a URL shows, or "" if the URL is not a view.
func viewOf(path string, q query) string {
	if q != "" {
		path += "?" + string(q)
	}
	for i := range views {
		if v := &views[i]; strings.Contains(path, v.has) && (v.in == nil || v.in.MatchString(path)) && v.form.MatchString(path) {
			return v.name
		}
	}
	return ""
}

// A query is the part of a canonical URL after the question mark.
type query string
