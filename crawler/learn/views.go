package learn

import (
	"slices"
	"strings"
)

// # Views of pages in well-known software
//
// Wikis, blogs and repositories show each of their pages in many ways, such as an edit form, a
// history, an older version, or a list in another order. Most of these views have their own text,
// so their patterns would never lose their budget, and there are many views of each page. So
// views are recognized by their URLs. They are the only URLs that are postponed without evidence.
// At first, one in 1<<viewRate views is fetched as a sample, even if samples give new text. When
// nothing else is left, views whose samples gave new text are fetched. That ends when there are half
// as many views and traps as the host has pages with new text.
//
// The rows of the table are exact. Each name and value must be in the documentation of the
// software, and the rest of the URL must match the software too. Views that the table misses, such
// as special pages with names in other languages, are treated like other pages.
const viewRate = 4

// A view recognizes the URLs of one kind of view of a page in one piece of software.
type view struct {
	name   string // names of the software and the view
	source string // URL, without its scheme, of the documentation or source code
	bare   bool   // whether a URL without a query may have this form
	is     func(path string, q query) bool
}

var views = []view{
	{"MediaWiki action", "www.mediawiki.org/wiki/Manual:Parameters_to_index.php", false, func(path string, q query) bool {
		return isWiki(path, q) && (q.is("action", "edit", "submit", "history", "info", "raw", "delete", "protect", "unprotect", "watch", "unwatch", "purge", "rollback", "revert", "markpatrolled", "credits") ||
			q.is("veaction", "edit", "editsource"))
	}},
	{"MediaWiki revision", "www.mediawiki.org/wiki/Manual:Parameters_to_index.php", false, func(path string, q query) bool {
		return isWiki(path, q) && (isDigits(q.value("oldid")) || q.is("diff", "prev", "next", "cur") || isDigits(q.value("diff")))
	}},
	{"MediaWiki printable page", "www.mediawiki.org/wiki/Manual:Parameters_to_index.php", false, func(path string, q query) bool {
		return isWiki(path, q) && q.is("printable", "yes")
	}},
	{"MediaWiki special page", "www.mediawiki.org/wiki/Help:Special_pages", true, func(path string, q query) bool {
		return special(path) || isWiki(path, q) && special("/"+q.value("title"))
	}},
	{"DokuWiki action", "www.dokuwiki.org/devel:action_modes", false, func(path string, q query) bool {
		return isDoku(path, q) && q.is("do", "admin", "backlink", "check", "diff", "draft", "edit", "export_pdf", "export_raw", "export_xhtml", "export_xhtmlbody", "index", "login", "logout", "media",
			"preview", "profile", "recent", "register", "resendpwd", "revert", "revisions", "save", "search", "subscribe", "unsubscribe")
	}},
	{"DokuWiki revision", "www.dokuwiki.org/devel:environment", false, func(path string, q query) bool {
		return isDoku(path, q) && len(q.value("rev")) >= 9 && isDigits(q.value("rev"))
	}},
	{"DokuWiki index", "www.dokuwiki.org/index", false, func(path string, q query) bool { return isDoku(path, q) && q.has("idx") }},
	{"WordPress reply form", "developer.wordpress.org/reference/functions/get_comment_reply_link", false, func(_ string, q query) bool { return isDigits(q.value("replytocom")) }},
	{"WordPress feed", "wordpress.org/documentation/article/wordpress-feeds", true, func(path string, q query) bool {
		path = strings.TrimSuffix(path, "/")
		path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(path, "/rdf"), "/rss"), "/rss2"), "/atom")
		return q == "" && strings.HasSuffix(path, "/feed") && strings.Count(path, "/") > 1
	}},
	{"directory listing in another order", "httpd.apache.org/docs/2.4/mod/mod_autoindex.html", false, func(path string, q query) bool {
		c, o := q.value("C"), q.value("O")
		return strings.HasSuffix(path, "/") && len(c) == 1 && strings.Contains("NMSD", c) && (o == "A" || o == "D") && len(q) == len("C=N;O=A")
	}},
	{"Redmine export", "www.redmine.org/projects/redmine/wiki/Rest_api", true, func(path string, _ query) bool {
		path, ext := cutExt(path)
		folder, last := path[:lastSegment(path)], path[lastSegment(path):]
		return slices.Contains([]string{"atom", "csv", "pdf", "json", "xml"}, ext) && (last == "issues" || isDigits(last) && strings.HasSuffix(folder, "/issues/"))
	}},
	{"cgit view", "git.zx2c4.com/cgit/tree/cmd.c", true, func(path string, q query) bool {
		if strings.Contains(path, "/rawdiff/") || strings.Contains(path, "/snapshot/") && isPackage(path) {
			return true
		}
		named := isHex(q.value("id")) || q.has("h")
		return named && (strings.Contains(path, "/blame/") || strings.Contains(path, "/patch/") || strings.Contains(path, "/plain/"))
	}},
	{"gitweb view", "git-scm.com/docs/gitweb", false, func(_ string, q query) bool {
		return q.has("p") && q.is("a", "atom", "blame", "blame_data", "blame_incremental", "blob_plain", "blobdiff_plain", "commitdiff_plain", "opml", "patch", "patches", "project_index", "rss", "snapshot")
	}},
}

// viewOf returns the name of the view that a URL shows, or "" if the URL is not a view.
func viewOf(path string, q query) string {
	for i := range views {
		if v := &views[i]; (q != "" || v.bare) && v.is(path, q) {
			return v.name
		}
	}
	return ""
}

func isWiki(path string, q query) bool {
	return q != "" && (q.has("title") || strings.HasPrefix(path, "/wiki/") || strings.HasSuffix(path, "/index.php") || strings.Contains(path, "/index.php/"))
}

func special(path string) bool {
	const name = "/Special"
	at := strings.Index(path, name)
	if at < 0 {
		return false
	}
	rest := path[at+len(name):]
	return strings.HasPrefix(rest, ":") || len(rest) >= 3 && strings.EqualFold(rest[:3], "%3A")
}

func isDoku(path string, q query) bool {
	return q != "" && (strings.HasSuffix(path, "/doku.php") || strings.Contains(path, "/doku.php/") || q.has("id") || q.value("do") == "export_xhtml" || q.value("do") == "export_raw")
}

// A query is the part of a canonical URL after the question mark.
type query string

func (q query) find(name string) (value string, found bool) {
	for at := 0; at < len(q); {
		end := at
		for end < len(q) && !separators(rune(q[end])) {
			end++
		}
		if n, v, _ := strings.Cut(string(q[at:end]), "="); n == name {
			return v, true
		}
		at = end + 1
	}
	return "", false
}

func (q query) value(name string) string {
	value, _ := q.find(name)
	return value
}

func (q query) has(name string) bool {
	_, found := q.find(name)
	return found
}

func (q query) is(name string, values ...string) bool {
	value, found := q.find(name)
	return found && slices.Contains(values, value)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isPackage reports whether a path has the extension of a cgit snapshot.
func isPackage(path string) bool {
	for _, ext := range []string{".tar", ".tar.gz", ".tar.bz2", ".tar.lz", ".tar.xz", ".tar.zst", ".zip"} {
		if strings.HasSuffix(path, ext) {
			return true
		}
	}
	return false
}

// isHex reports whether s may be the name of a git object, possibly abbreviated.
func isHex(s string) bool {
	_, _, hex := kinds(s)
	return hex && len(s) >= 7 && !strings.Contains(s, "-")
}

func cutExt(path string) (stem, ext string) {
	if dot := strings.LastIndexByte(path, '.'); dot > 0 {
		return path[:dot], path[dot+1:]
	}
	return path, ""
}
