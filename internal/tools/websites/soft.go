package websites

import (
	"fmt"
	"net/url"
)

// The two sites in this file return status 200 for missing pages.

// missingTopics returns a wiki with a single URL path and the topic in the query. Each topic links
// to two topics that do not exist.
func missingTopics(size int) *Site {
	count := size / 2
	s := &Site{Name: "missing topics", Why: "doku.php?id=missing says with 200 that there is no such topic"}
	s.Texts = append(names("topic %d", 1, count+1), "start")
	ids := map[string]int{}
	id := func(n int) string { return fmt.Sprintf("wiki:%s_%d", word(fmt.Sprint("topic ", n)), n) }
	for n := 1; n <= count; n++ {
		ids[id(n)] = n
	}
	s.Open = func(u *url.URL, _ int) Answer {
		asked, q := u.Query().Get("id"), u.Query()
		n := ids[asked]
		p := page{site: "Wiki"}
		switch {
		case u.Path == "/" || u.Path == "/doku.php" && len(q) == 0:
			p.title, p.body = "Start", story("start of the wiki", 150)
			for n := 1; n <= count; n++ {
				p.links = append(p.links, link{"/doku.php?id=" + id(n), title(fmt.Sprint("topic ", n))})
			}
			return show("start", p)
		case u.Path != "/doku.php" || len(q) > 1:
			return notFound()
		case n == 0:
			p.title = asked
			p.body = "<h2>This topic does not exist yet</h2><p>You've followed a link to a topic that doesn't exist yet. If permissions allow, you may create it by clicking on <em>Create this page</em>. Perhaps somebody has moved the topic to another namespace, or it has never been written. You may also search the wiki for its name, or begin again at the start page.</p>"
			return Answer{Text: "sorry", Sorry: true, Body: p.html()}
		}
		name := fmt.Sprintf("topic %d", n)
		p.title, p.body = title(name), story(name, between(80, 300, name))
		for i := range 2 {
			p.links = append(p.links, link{fmt.Sprintf("/doku.php?id=wiki:%s", word(fmt.Sprint("missing ", n, i))+"_missing"), word(fmt.Sprint("missing ", n, i))})
		}
		return show(name, p)
	}
	return s
}

// withdrawn returns the site of a magazine. For a withdrawn article, the site returns an apology,
// followed by texts that change with each request.
func withdrawn(size int) *Site {
	count := size / 2
	s := &Site{Name: "withdrawn", Why: "junk with 200, half of it a random text"}
	s.Texts = append(names("article %d", 1, count+1), "front page")
	s.Open = func(u *url.URL, visit int) Answer {
		p := page{site: "Magazine", menu: []link{{"/", "Front page"}}}
		rest, ok := after(u, "/article/")
		n := number(rest)
		switch {
		case u.RawQuery != "":
			return notFound()
		case u.Path == "/":
			p.title, p.body, p.links = "Front page", story("front page", 150), to("/article/%d", 1, count+1)
			return show("front page", p)
		case ok && n >= 1 && n <= count:
			name := fmt.Sprintf("article %d", n)
			p.title, p.body = title(name), story(name, between(100, 300, name))
			p.links = []link{{fmt.Sprintf("/article/%d", 100_000+n), "related"}, {fmt.Sprintf("/article/%d", 200_000+n), "related"}}
			return show(name, p)
		}
		p.title = "No longer available"
		p.body = "<p>We are sorry. The article that you were looking for has been withdrawn from our magazine, or it has never been there. The editors cannot say more about the reasons. It may return in another form, and if it does, the front page will name it. Meanwhile you may like to read what our other readers enjoyed this week.</p>" + story(fmt.Sprint("choice ", u.Path, visit), 60)
		return Answer{Text: "sorry", Sorry: true, Body: p.html()}
	}
	return s
}
