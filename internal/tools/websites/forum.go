package websites

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const (
	boards        = 4
	topicsOnBoard = 25 // topics on one page of a board
	postsOnPage   = 25
)

// forum returns a site like phpBB 3: boards and topics are split into pages by start=, each topic
// page has a print view, and each post links to its topic page. The first topic is so long that
// some values of start= look like years.
func forum(size int) *Site {
	topics, members := size/4, size/5
	pagesOf := func(t int) int {
		if t == 1 {
			return size / 2
		}
		return 1 + draw(fmt.Sprint("topic pages ", t), 3)
	}
	s := &Site{Name: "forum", Why: "paging by start=, print views, links to posts"}
	s.Texts = append(names("board %d", 1, boards+1), names("member %d", 1, members+1)...)
	s.Texts = append(s.Texts, "index")
	for f := 1; f <= boards; f++ {
		for start := topicsOnBoard; start*boards < topics; start += topicsOnBoard {
			s.Texts = append(s.Texts, fmt.Sprintf("board %d from %d", f, start))
		}
	}
	for t := 1; t <= topics; t++ {
		for n := range pagesOf(t) {
			s.Texts = append(s.Texts, fmt.Sprintf("topic %d page %d", t, n))
		}
	}
	menu := []link{{"/index.php", "Board index"}, {"/ucp.php?mode=login", "Login"}, {"/ucp.php?mode=register", "Register"}, {"/memberlist.php", "Members"}}
	topic := func(f, t, start int, print bool) Answer {
		n := start / postsOnPage
		if t < 1 || t > topics || f != 1+t%boards || start < 0 || n >= pagesOf(t) {
			return notFound()
		}
		name := fmt.Sprintf("topic %d page %d", t, n)
		p := page{title: title(fmt.Sprint("topic ", t)), menu: menu, site: "Forum"}
		var b strings.Builder
		for i := range 2 + draw(name, 3) {
			post := fmt.Sprintf("%s post %d", name, i)
			id, by := 100_000*t+postsOnPage*n+i, 1+draw("by "+post, members)
			fmt.Fprintf(&b, "<div id=\"p%d\" class=\"post\"><p class=\"author\">by <a href=\"./memberlist.php?mode=viewprofile&amp;u=%d\">%s</a></p><div class=\"content\">%s</div></div>\n", id, by, word(fmt.Sprint("member ", by)), story(post, between(40, 90, post)))
			if i == 0 && !print {
				p.links = append(p.links, link{fmt.Sprintf("./viewtopic.php?p=%d#p%d", id, id), "Re: " + p.title})
			}
		}
		p.body = b.String()
		if print {
			p.menu, p.links = nil, nil
			return show(name, p)
		}
		for other := range pagesOf(t) {
			href := fmt.Sprintf("./viewtopic.php?f=%d&t=%d", f, t)
			if other > 0 {
				href += fmt.Sprintf("&start=%d", other*postsOnPage)
			}
			p.links = append(p.links, link{href, fmt.Sprint(other + 1)})
		}
		view := fmt.Sprintf("./viewtopic.php?f=%d&t=%d&view=print", f, t)
		if start > 0 {
			view = fmt.Sprintf("./viewtopic.php?f=%d&t=%d&start=%d&view=print", f, t, start)
		}
		p.links = append(p.links, link{view, "Print view"}, link{fmt.Sprintf("./posting.php?mode=reply&f=%d&t=%d", f, t), "Post a reply"}, link{fmt.Sprintf("./viewforum.php?f=%d", f), "Return to the board"})
		return show(name, p)
	}
	board := func(f, start int) Answer {
		if f < 1 || f > boards || start < 0 || start > 0 && start*boards >= topics {
			return notFound()
		}
		name := fmt.Sprintf("board %d", f)
		if start > 0 {
			name += fmt.Sprintf(" from %d", start)
		}
		p := page{title: title(fmt.Sprint("board ", f)), menu: menu, site: "Forum"}
		var here []int
		for t := 1; t <= topics; t++ {
			if 1+t%boards == f {
				here = append(here, t)
			}
		}
		var rows []link
		for _, t := range here[start:min(start+topicsOnBoard, len(here))] {
			rows = append(rows, link{fmt.Sprintf("./viewtopic.php?f=%d&t=%d", f, t), title(fmt.Sprint("topic ", t))})
		}
		p.body = "<div class=\"topics\">" + list(rows) + "</div>"
		for other := topicsOnBoard; other < len(here); other += topicsOnBoard {
			p.links = append(p.links, link{fmt.Sprintf("./viewforum.php?f=%d&start=%d", f, other), fmt.Sprint(other/topicsOnBoard + 1)})
		}
		return show(name, p)
	}
	s.Open = func(u *url.URL, _ int) Answer {
		q := u.Query()
		num := func(name string) int {
			if !q.Has(name) {
				return 0
			}
			return number(q.Get(name))
		}
		switch u.Path {
		case "/", "/index.php":
			p := page{title: "Board index", menu: menu, site: "Forum"}
			for f := 1; f <= boards; f++ {
				p.body += fmt.Sprintf("<h2><a href=\"./viewforum.php?f=%d\">%s</a></h2>%s", f, title(fmt.Sprint("board ", f)), story(fmt.Sprint("about board ", f), 20))
			}
			return show("index", p)
		case "/viewforum.php":
			return board(num("f"), num("start"))
		case "/viewtopic.php":
			if post := num("p"); post > 0 {
				t := post / 100_000
				return topic(1+t%boards, t, post%100_000/postsOnPage*postsOnPage, false)
			}
			return topic(num("f"), num("t"), num("start"), q.Get("view") == "print")
		case "/memberlist.php":
			u := num("u")
			if q.Get("mode") != "viewprofile" {
				return show("members", page{title: "Members", menu: menu, links: to("./memberlist.php?mode=viewprofile&u=%d", 1, members+1), site: "Forum"})
			}
			if u < 1 || u > members {
				return notFound()
			}
			name := fmt.Sprint("member ", u)
			return show(name, page{title: "Viewing profile: " + word(name), menu: menu, body: story(name, between(60, 90, name)), site: "Forum"})
		case "/posting.php", "/ucp.php":
			return show("login", page{title: "Login", menu: menu, site: "Forum", body: "<form method=\"post\"><p>The board requires you to be registered and logged in to do this.</p><p>Username <input name=\"username\"> Password <input name=\"password\" type=\"password\"> <input type=\"submit\" value=\"Login\"></p></form>"})
		}
		return notFound()
	}
	slices.Sort(s.Texts)
	return s
}
