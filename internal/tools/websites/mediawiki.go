package websites

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// mediaWiki returns a site like MediaWiki 1.39 as seen by readers who are not logged in. Each
// article has a form with its source, a history, old revisions, diffs, an information page, and
// special pages about it. The URLs follow Manual:Short URL and Manual:Parameters to index.php on
// mediawiki.org, and were compared with those of MediaWiki 1.39. Like MediaWiki, the site asks
// robots not to follow the links on views.
func mediaWiki(size int) *Site {
	const revisions = 4
	articles, categories := size/2, 5
	s := &Site{Name: "mediawiki", Why: "action=edit, history, info; oldid, diff, printable; Special:*"}
	titles := map[string]int{}
	title1 := func(n int) string {
		name := title(fmt.Sprint("article ", n))
		return strings.ReplaceAll(name, " ", "_")
	}
	for n := range articles {
		titles[title1(n)] = n
		s.Texts = append(s.Texts, "article "+title1(n))
	}
	for c := range categories {
		s.Texts = append(s.Texts, fmt.Sprintf("category %d", c))
	}
	s.Start = "/wiki/" + title1(0)
	wiki := func(t string) string { return "/wiki/" + t }
	index := func(t, more string) string { return "/index.php?title=" + t + "&" + more }

	// around adds to p the elements that the skin puts on each page about a title.
	around := func(p page, t string) page {
		p.site = "Wiki"
		p.menu = []link{
			{wiki(title1(0)), "Main page"}, {wiki("Special:RecentChanges"), "Recent changes"}, {wiki("Special:Random"), "Random page"}, {wiki("Special:SpecialPages"), "Special pages"},
			{wiki("Special:WhatLinksHere/" + t), "What links here"}, {wiki("Special:RecentChangesLinked/" + t), "Related changes"}, {wiki("Special:MyContributions"), "Contributions"}, {"/index.php?title=Special:RecentChanges&feed=atom", "Atom"},
			{index("Special:UserLogin", "returnto="+t), "Log in"}, {index("Special:CreateAccount", "returnto="+t), "Create account"},
		}
		if _, article := titles[t]; article {
			p.menu = append(p.menu,
				link{index("Talk:"+t, "action=edit&redlink=1"), "Discussion"}, link{index(t, "action=edit"), "Edit"}, link{index(t, "action=history"), "View history"},
				link{index(t, "printable=yes"), "Printable version"}, link{index(t, fmt.Sprintf("oldid=%d", revisions+100*titles[t])), "Permanent link"}, link{index(t, "action=info"), "Page information"})
		}
		return p
	}
	text := func(t string, revision int) string {
		name := "article " + t
		b := "<div class=\"mw-parser-output\">" + story(name, between(80, 200, name))
		for i := range 2 {
			b += fmt.Sprintf("<h2><span class=\"mw-headline\">%s</span><span class=\"mw-editsection\">[<a href=\"%s\">edit</a>]</span></h2>", title(fmt.Sprint(name, i)), escape(index(t, fmt.Sprintf("action=edit&section=%d", i+1))))
			b += story(fmt.Sprint(name, " section ", i), 50)
		}
		if revision < revisions {
			b += story(fmt.Sprint(name, " revision ", revision), 10+5*revision)
		}
		return b + "</div>"
	}
	article := func(t string) Answer {
		n := titles[t]
		p := around(page{title: strings.ReplaceAll(t, "_", " "), body: text(t, revisions)}, t)
		for _, to := range []int{2*n + 1, 2*n + 2, draw(t, articles)} {
			if to < articles {
				p.links = append(p.links, link{wiki(title1(to)), title1(to)})
			}
		}
		p.links = append(p.links, link{wiki(fmt.Sprintf("Category:%d", n%categories)), "Category"}, link{index("Unwritten_"+word(t), "action=edit&redlink=1"), word(t)})
		return show("article "+t, p)
	}
	// view returns a page that the software generates about a title.
	view := func(kind, t, body string, links ...link) Answer {
		p := around(page{title: kind + " \"" + strings.ReplaceAll(t, "_", " ") + "\"", body: body, links: links, head: robots("noindex,nofollow")}, t)
		return show(kind+" of "+t, p)
	}
	history := func(t string) Answer {
		n := titles[t]
		var b strings.Builder
		var links []link
		b.WriteString("<p>Diff selection: mark the radio buttons of the revisions to compare and hit enter or the button at the bottom.</p><ul>")
		for r := revisions; r > 0; r-- {
			id := r + 100*n
			fmt.Fprintf(&b, "<li><a href=\"%s\">%d:%02d, %d May 2026</a> %s (%d bytes) (%s) <a href=\"%s\">prev</a></li>", escape(index(t, fmt.Sprintf("oldid=%d", id))), r, n%60, 1+r, word(fmt.Sprint(t, r)), 100+draw(t, 5000), title(fmt.Sprint(t, r)), escape(index(t, fmt.Sprintf("diff=prev&oldid=%d", id))))
		}
		for _, limit := range []int{20, 50, 100, 250, 500} {
			links = append(links, link{index(t, fmt.Sprintf("action=history&limit=%d", limit)), fmt.Sprint(limit)})
		}
		links = append(links, link{"/index.php?title=" + t + "&feed=atom&action=history", "Atom"})
		return view("Revision history", t, b.String()+"</ul>", links...)
	}
	s.Open = func(u *url.URL, _ int) Answer {
		q := u.Query()
		t, isWiki := after(u, "/wiki/")
		if u.Path == "/index.php" {
			t = q.Get("title")
		} else if !isWiki {
			if u.Path == "/" {
				return redirect(s.Start)
			}
			return notFound()
		}
		name, about, _ := strings.Cut(t, "/")
		_, known := titles[t]
		switch {
		case strings.HasPrefix(t, "Special:") && q.Get("feed") == "atom":
			return Answer{Type: "application/atom+xml", Text: "feed of " + t, Body: "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>" + t + "</title></feed>"}
		case strings.HasPrefix(t, "Special:"):
			return special(u, q, name, about, title1, articles, view)
		case strings.HasPrefix(t, "Category:"):
			c := number(strings.TrimPrefix(t, "Category:"))
			if c < 0 || c >= categories {
				return notFound()
			}
			p := around(page{title: t, body: story(t, 60)}, t)
			for n := c; n < articles; n += categories {
				p.links = append(p.links, link{wiki(title1(n)), title1(n)})
			}
			return show(fmt.Sprintf("category %d", c), p)
		case q.Get("action") == "edit" && !known:
			return view("Creating", t, "<p>You have followed a link to a page that does not exist yet. To create the page, start typing in the box below.</p><form><textarea></textarea></form>")
		case !known:
			return notFound()
		case q.Get("action") == "edit":
			source := title(t) + "\n\n" + story("article "+t, between(80, 200, "article "+t))
			return view("View source", t, "<p>You do not have permission to edit this page, for the following reason: the action you have requested is limited to users. You can view and copy the source of this page.</p><textarea>"+escape(source)+"</textarea>")
		case q.Get("action") == "history":
			if q.Get("feed") == "atom" {
				return Answer{Type: "application/atom+xml", Text: "feed of " + t, Body: "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>" + t + "</title></feed>"}
			}
			return history(t)
		case q.Get("action") == "info":
			return view("Information for", t, "<h2>Basic information</h2>"+table(t, 12))
		case q.Has("diff"):
			return view("Difference between revisions of "+q.Get("oldid"), t, story(fmt.Sprint(t, q.Get("oldid")), 20)+text(t, revisions))
		case q.Has("oldid"):
			r := number(q.Get("oldid")) % 100
			if r == revisions {
				return article(t)
			}
			return view(fmt.Sprintf("Old revision %d", r), t, "<p>This is an old revision of this page. It may differ from the current revision.</p>"+text(t, r))
		}
		if q.Get("printable") == "yes" {
			p := page{title: strings.ReplaceAll(t, "_", " "), body: text(t, revisions), head: robots("noindex,follow")}
			return show("article "+t, p)
		}
		return article(t)
	}
	slices.Sort(s.Texts)
	return s
}

func special(u *url.URL, q url.Values, name, about string, title1 func(int) string, articles int, view func(kind, t, body string, links ...link) Answer) Answer {
	var links []link
	switch name {
	case "Special:Random":
		return redirect("/wiki/" + title1(draw(u.RawQuery, articles)))
	case "Special:UserLogin", "Special:CreateAccount":
		return view(name, "", "<form><p>Username <input> Password <input type=password></p><p>Cookies must be enabled to log in. If you have forgotten your password, you can have a new one sent by mail.</p></form>",
			link{"/index.php?title=Special:PasswordReset", "Forgot your password?"})
	case "Special:RecentChanges", "Special:RecentChangesLinked":
		self := "/wiki/" + name
		if about != "" {
			self += "/" + about
		}
		for _, limit := range []int{50, 100, 250, 500} {
			for _, days := range []int{1, 3, 7, 14, 30} {
				links = append(links, link{fmt.Sprintf("/index.php?title=%s&days=%d&limit=%d", strings.TrimPrefix(self, "/wiki/"), days, limit), fmt.Sprint(limit)})
			}
		}
		for _, hide := range []string{"hidebots=0", "hideanons=1", "hideminor=1", "hideliu=1", "hidemyself=1"} {
			links = append(links, link{"/index.php?title=" + strings.TrimPrefix(self, "/wiki/") + "&" + hide, hide})
		}
		return view(name, about, "<p>Track the most recent changes to the wiki on this page. No changes during the given period match these criteria.</p>", links...)
	case "Special:WhatLinksHere":
		for _, limit := range []int{20, 50, 100, 250, 500} {
			links = append(links, link{fmt.Sprintf("/index.php?title=Special:WhatLinksHere/%s&limit=%d", about, limit), fmt.Sprint(limit)})
		}
		for _, hide := range []string{"hidetrans=1", "hidelinks=1", "hideredirs=1"} {
			links = append(links, link{"/index.php?title=Special:WhatLinksHere/" + about + "&" + hide, hide})
		}
		var b strings.Builder
		for i := range 4 {
			to := title1(draw(fmt.Sprint(about, i), articles))
			fmt.Fprintf(&b, "<li><a href=\"/wiki/%s\">%s</a> (<a href=\"%s\">links</a>)</li>", to, to, escape("/wiki/Special:WhatLinksHere/"+to))
		}
		return view("Pages that link to", about, "<p>The following pages link to this page:</p><ul>"+b.String()+"</ul>", links...)
	case "Special:SpecialPages":
		for _, n := range []string{"AllPages", "Version", "LonelyPages", "Statistics"} {
			links = append(links, link{"/wiki/Special:" + n, n})
		}
		return view("Special pages", "", "<p>These are the special pages of the wiki.</p>", links...)
	case "Special:AllPages":
		for n := range articles {
			links = append(links, link{"/wiki/" + title1(n), title1(n)})
		}
		return view("All pages", "", "<p>All pages of the wiki.</p>", links...)
	}
	return view(name, about, story(name, 60))
}
