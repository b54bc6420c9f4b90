package websites

import (
	"fmt"
	"net/url"
	"strings"
)

// dokuWiki returns a site like DokuWiki: each topic has views of its source and its revisions (do=,
// rev=). Each topic also shows the site map (idx=), the media manager and the recent changes under
// its own name. URLs, text and robots meta elements were compared with those of DokuWiki
// 2022-07-31. Like DokuWiki, the site asks robots not to follow the links on views.
func dokuWiki(size int) *Site {
	const revisions, spaces = 4, 5
	topics := size / 2
	s := &Site{Name: "dokuwiki", Why: "do=edit, revisions, backlink, index, media, recent; rev=, idx="}
	s.Texts = names("topic %d", 0, topics)
	id := func(n int) string {
		if n == 0 {
			return "start"
		}
		return fmt.Sprintf("%s:%s_%d", word(fmt.Sprint("space ", n%spaces)), word(fmt.Sprint("topic ", n)), n)
	}
	ids := map[string]int{}
	for n := range topics {
		ids[id(n)] = n
	}
	s.Open = func(u *url.URL, _ int) Answer {
		q := u.Query()
		asked := q.Get("id")
		if u.Path == "/feed.php" {
			return Answer{Type: "application/rss+xml", Text: "feed " + u.RawQuery, Body: "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Wiki " + q.Get("ns") + "</title></channel></rss>"}
		}
		if u.Path == "/" || asked == "" {
			asked = "start"
		} else if u.Path != "/doku.php" {
			return notFound()
		}
		self := "/doku.php?id=" + asked
		n, known := ids[asked]
		p := page{site: "DokuWiki", title: title(fmt.Sprint("topic ", n)), menu: []link{
			{"/doku.php?id=start", "Start"}, {self + "&do=edit", "Show pagesource"}, {self + "&do=revisions", "Old revisions"}, {self + "&do=backlink", "Backlinks"},
			{self + "&do=recent", "Recent Changes"}, {self + "&do=media&ns=", "Media Manager"}, {self + "&do=index", "Sitemap"}, {self + "&do=login&sectok=", "Log In"}, {"/doku.php?do=export_xhtml&id=" + asked, "Print"}, {"/doku.php?do=export_raw&id=" + asked, "Raw"},
			{"/feed.php", "Recent changes (RSS)"}, {"/feed.php?mode=list&ns=" + space(asked), "Current namespace"},
		}}
		view := func(kind, body string) Answer {
			p.body, p.head = body, robots("noindex,nofollow")
			return show(kind+" of "+asked, p)
		}
		text := func(revision string) string {
			name := fmt.Sprint("topic ", n)
			b := story(name, between(80, 250, name))
			if revision != "" {
				b += story(name+revision, 15)
			}
			return b
		}
		switch do := q.Get("do"); {
		case do == "recent":
			return view("recent", "<h2>Recent Changes</h2><p>The following pages were changed recently:</p><p>"+title("recent")+"</p>")
		case do == "media":
			return view("media", "<h2>Media Manager</h2><p>Choose namespace. No files found.</p>")
		case do == "login":
			return view("login", "<h2>Login</h2><p>You are currently not logged in! Enter your authentication credentials below to log in. You need to have cookies enabled to log in.</p>")
		case do == "index" || q.Has("idx"):
			var rows []link
			for space := range spaces {
				name := word(fmt.Sprint("space ", space))
				rows = append(rows, link{self + "&idx=" + name, name})
				if name == q.Get("idx") {
					for n := space; n < topics; n += spaces {
						rows = append(rows, link{"/doku.php?id=" + id(n), id(n)})
					}
				}
			}
			return view("index "+q.Get("idx"), "<h2>Sitemap</h2><p>This is a sitemap over all available pages ordered by namespaces.</p>"+list(rows))
		case !known && do == "edit":
			return view("source", "<p>Edit the page and hit Save. See <a href=\"/doku.php?id=wiki:syntax\">syntax</a> for Wiki syntax.</p><textarea></textarea>")
		case !known:
			p.title, p.head = asked, robots("noindex,follow")
			p.body = "<h2>This topic does not exist yet</h2><p>You've followed a link to a topic that doesn't exist yet. If permissions allow, you may create it by clicking on Create this page.</p>"
			return Answer{Text: "sorry", Sorry: true, Body: p.html()}
		case do == "export_raw":
			return Answer{Type: "text/plain; charset=utf-8", Text: "raw " + asked, Body: "====== " + title(asked) + " ======\n" + plain(text(""))}
		case do == "export_xhtml":
			return Answer{Text: fmt.Sprint("topic ", n), Body: page{title: title(fmt.Sprint("topic ", n)), body: text(""), head: robots("noindex,nofollow")}.html()}
		case do == "edit":
			return view("source", "<p>Edit the page and hit Save. See <a href=\"/doku.php?id=wiki:syntax\">syntax</a> for Wiki syntax. Please edit the page only if you can improve it.</p><textarea>"+escape(text(q.Get("rev")))+"</textarea>")
		case do == "revisions":
			var b strings.Builder
			for r := range revisions {
				rev := 1770000000 + 1000*n + r
				fmt.Fprintf(&b, "<li>2026/0%d/1%d <a href=\"%s\">view</a> <a href=\"%s\">%s</a> - %s</li>", r+1, r, escape(fmt.Sprintf("%s&rev=%d", self, rev)), escape(fmt.Sprintf("%s&do=diff&rev=%d", self, rev)), asked, word(fmt.Sprint(asked, r)))
			}
			p.links = []link{{self + "&do=revisions&first=20", "less recent"}}
			return view("revisions", "<h2>Old Revisions</h2><p>These are the older revisions of the current document. To revert to an old revision, select it from below, click Edit this page and save it.</p><ul>"+b.String()+"</ul>")
		case do == "backlink":
			return view("backlinks", "<h2>Backlinks</h2><p>This is a list of pages that seem to link back to the current page.</p>"+list([]link{{"/doku.php?id=" + id(n/2), id(n / 2)}}))
		case do == "diff":
			return view("difference "+q.Get("rev"), "<h2>Differences</h2><p>This shows you the differences between two versions of the page.</p>"+story(asked+q.Get("rev"), 15))
		case q.Has("rev"):
			return view("revision "+q.Get("rev"), "<p>This is an old revision of the document!</p>"+text(q.Get("rev")))
		}
		p.body = text("")
		for _, to := range []int{2*n + 1, 2*n + 2} {
			if to < topics {
				p.links = append(p.links, link{"/doku.php?id=" + id(to), title(fmt.Sprint("topic ", to))})
			}
		}
		if n%4 == 0 {
			p.links = append(p.links, link{"/doku.php?id=" + word(asked) + "_unwritten", "unwritten"})
		}
		return show(fmt.Sprint("topic ", n), p)
	}
	return s
}

func space(id string) string {
	if colon := strings.LastIndexByte(id, ':'); colon >= 0 {
		return id[:colon]
	}
	return ""
}
