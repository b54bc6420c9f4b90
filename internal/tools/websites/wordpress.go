package websites

import (
	"fmt"
	"net/url"
	"strings"
)

// wordPress returns a site like WordPress with readable permalinks. It has posts, feeds and
// attachment pages. The comments of a post have reply links that lead back to the post. The
// archives by date, author, category and tag repeat the first paragraphs of posts.
func wordPress(size int) *Site {
	const onPage, authors, tags = 10, 4, 12
	posts := size / 2
	s := &Site{Name: "wordpress", Why: "/2026/04/title/?replytocom=18, feeds, attachments, archives"}
	s.Texts = append(names("post %d", 0, posts), "about")
	month := func(n int) string { return fmt.Sprintf("%d/%02d", 2024+n%24/12, 1+n%12) }
	slug := func(n int) string {
		return strings.ReplaceAll(strings.ToLower(title(fmt.Sprint("post ", n))), " ", "-")
	}
	permalink := func(n int) string { return "/" + month(n) + "/" + slug(n) + "/" }
	byPath := map[string]int{}
	for n := range posts {
		byPath[permalink(n)] = n
	}
	menu := []link{{"/", "Home"}, {"/about/", "About"}, {"/feed/", "Entries feed"}, {"/comments/feed/", "Comments feed"}, {"/wp-login.php", "Log in"}}
	for n := range 24 {
		menu = append(menu, link{"/" + month(n) + "/", month(n)})
	}
	for n := range tags {
		menu = append(menu, link{fmt.Sprintf("/tag/%s/", word(fmt.Sprint("tag ", n))), word(fmt.Sprint("tag ", n))})
	}
	feed := func(of string) Answer {
		return Answer{Type: "application/rss+xml", Text: "feed of " + of, Body: "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>" + escape(of) + "</title></channel></rss>"}
	}
	archive := func(path string, of []int) Answer {
		base, number1, paged := strings.Cut(strings.TrimSuffix(path, "/"), "/page/")
		at := 1
		if base = strings.TrimSuffix(base, "/") + "/"; paged {
			at = number(number1)
		}
		if at < 1 || (at-1)*onPage >= max(len(of), 1) {
			return notFound()
		}
		p := page{site: "Blog", title: "Archives " + path, menu: menu, head: "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"" + base + "feed/\">\n"}
		for _, n := range of[(at-1)*onPage : min(at*onPage, len(of))] {
			p.body += fmt.Sprintf("<h2><a href=\"%s\">%s</a></h2>%s", permalink(n), title(fmt.Sprint("post ", n)), story(fmt.Sprint("post ", n), 30))
		}
		if at*onPage < len(of) {
			p.links = append(p.links, link{fmt.Sprintf("%spage/%d/", base, at+1), "Older posts"})
		}
		return show("archive "+path, p)
	}
	which := func(keep func(n int) bool) (of []int) {
		for n := range posts {
			if keep(n) {
				of = append(of, n)
			}
		}
		return of
	}
	s.Open = func(u *url.URL, _ int) Answer {
		path := u.Path
		if n, known := byPath[path]; known {
			name := fmt.Sprint("post ", n)
			p := page{site: "Blog", title: title(name), menu: menu, body: story(name, between(100, 300, name)), head: fmt.Sprintf("<link rel=\"shortlink\" href=\"/?p=%d\">\n", n+1)}
			p.links = []link{{fmt.Sprintf("/author/%s/", word(fmt.Sprint("author ", n%authors))), "author"}, {path + "feed/", "Comments feed"}}
			if n%2 == 0 {
				p.links = append(p.links, link{path + "photo-" + word(name) + "/", "photo"})
			}
			var b strings.Builder
			b.WriteString("<section id=\"comments\" class=\"comments-area\"><h2>Comments</h2><ol>")
			for c := range 3 {
				id := 10*n + c
				fmt.Fprintf(&b, "<li id=\"comment-%d\"><p>%s</p>%s<a rel=\"nofollow\" class=\"comment-reply-link\" href=\"%s?replytocom=%d#respond\">Reply</a></li>", id, word(fmt.Sprint("commenter ", id)), story(fmt.Sprint("comment ", id), 15), path, id)
			}
			p.foot = b.String() + "</ol></section>"
			return show(name, p) // links with the replytocom parameter lead to the same page
		}
		parts := strings.Split(strings.Trim(path, "/"), "/")
		switch {
		case path == "/" && u.Query().Has("p"):
			if n := number(u.Query().Get("p")) - 1; n >= 0 && n < posts {
				return redirect(permalink(n))
			}
			return notFound()
		case strings.HasSuffix(path, "/feed/"):
			return feed(path)
		case path == "/" || parts[0] == "page":
			return archive(path, which(func(int) bool { return true }))
		case path == "/about/":
			return show("about", page{site: "Blog", title: "About", menu: menu, body: story("about the blog", 120)})
		case path == "/wp-login.php":
			return show("login", page{site: "Blog", title: "Log in", body: "<form><p>Username or Email Address <input> Password <input></p></form>"})
		case parts[0] == "tag" && len(parts) > 1:
			return archive(path, which(func(n int) bool {
				return word(fmt.Sprint("tag ", n%tags)) == parts[1] || word(fmt.Sprint("tag ", n*7%tags)) == parts[1]
			}))
		case parts[0] == "author" && len(parts) > 1:
			return archive(path, which(func(n int) bool { return word(fmt.Sprint("author ", n%authors)) == parts[1] }))
		case len(parts) == 4 && strings.HasPrefix(parts[3], "photo-"):
			return show("photo "+path, page{site: "Blog", title: parts[3], menu: menu, body: "<p><img src=\"/uploads/" + parts[3] + ".jpg\" alt=\"\"></p><p>" + title(path) + "</p>"})
		case len(parts) >= 2 && number(parts[0]) > 2000:
			of := which(func(n int) bool { return month(n) == parts[0]+"/"+parts[1] })
			if len(of) > 0 {
				return archive(path, of)
			}
		}
		return notFound()
	}
	return s
}
