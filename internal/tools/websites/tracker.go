package websites

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// tracker returns a site like Redmine. It has issues and a list of them. The list can be sorted
// by any column and filtered. Its pages have one of three sizes, and it can be exported as PDF, CSV
// and Atom. The links in a list keep its other parameters, as link_to_with_query_parameters does in Redmine.
func tracker(size int) *Site {
	const projects = 3
	issues := size
	columns := []string{"tracker", "status", "priority", "subject", "assigned_to", "updated_on"}
	s := &Site{Name: "redmine", Why: "sort=, set_filter=, per_page=, exports as PDF, CSV and Atom"}
	s.Texts = append(names("issue %d", 1, issues+1), names("project %d", 0, projects)...)
	menu := []link{{"/", "Projects"}, {"/issues", "All issues"}, {"/login?back_url=%2Fissues", "Sign in"}}
	export := func(u *url.URL, kind string) Answer {
		name := "export " + u.RequestURI()
		switch kind {
		case "atom":
			return Answer{Type: "application/atom+xml", Text: name, Body: "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Issues</title><updated>2026-05-01T00:00:00Z</updated></feed>"}
		case "csv":
			return Answer{Type: "text/csv; charset=utf-8", Text: name, Body: "#,Tracker,Status\n1,Bug,New\n"}
		}
		return Answer{Type: "application/pdf", Text: name, Body: "%PDF-1.4\n%" + name}
	}
	listing := func(u *url.URL, of []int) Answer {
		q := u.Query()
		by, descending := q.Get("sort"), q.Get("order") == "desc"
		if name, found := strings.CutSuffix(by, ":desc"); found {
			by, descending = name, true
		}
		if by != "" {
			slices.SortStableFunc(of, func(a, b int) int { return draw(fmt.Sprint(by, a), 1000) - draw(fmt.Sprint(by, b), 1000) })
		}
		if descending {
			slices.Reverse(of)
		}
		per, at := number(q.Get("per_page")), max(number(q.Get("page")), 1)
		if per != 50 && per != 100 {
			per = 25
		}
		p := page{site: "Tracker", title: "Issues", menu: menu}
		var rows strings.Builder
		for _, n := range of[min((at-1)*per, len(of)):min(at*per, len(of))] {
			name := fmt.Sprint("issue ", n)
			fmt.Fprintf(&rows, "<tr class=\"issue\"><td><a href=\"/issues/%d\">%d</a></td><td>Bug</td><td>%s</td><td><a href=\"/issues/%d\">%s</a></td></tr>\n", n, n, word(name), n, title(name))
		}
		with := func(set ...string) string {
			v := u.Query()
			for i := 0; i < len(set); i += 2 {
				v.Set(set[i], set[i+1])
			}
			return u.Path + "?" + v.Encode()
		}
		var head strings.Builder
		for _, c := range columns {
			to := c
			if by == c && !descending {
				to += ":desc"
			}
			fmt.Fprintf(&head, "<th><a href=\"%s\">%s</a></th>", escape(with("sort", to)), c)
		}
		p.body = "<table class=\"list issues\"><tr>" + head.String() + "</tr>\n" + rows.String() + "</table>"
		for n := 1; (n-1)*per < len(of); n++ {
			p.links = append(p.links, link{with("page", fmt.Sprint(n)), fmt.Sprint(n)})
		}
		for _, n := range []string{"25", "50", "100"} {
			p.links = append(p.links, link{with("per_page", n), n})
		}
		for _, filter := range []string{"tracker_id", "status_id", "assigned_to_id"} {
			p.links = append(p.links, link{u.Path + "?set_filter=1&" + filter + "=2", filter})
		}
		for _, kind := range []string{"atom", "csv", "pdf"} {
			p.links = append(p.links, link{u.Path + "." + kind + strings.TrimSuffix("?"+u.RawQuery, "?"), kind})
		}
		return show("list "+u.RequestURI(), p)
	}
	s.Open = func(u *url.URL, _ int) Answer {
		path, kind := u.Path, ""
		for _, k := range []string{"atom", "csv", "pdf"} {
			if bare, found := strings.CutSuffix(path, "."+k); found {
				path, kind = bare, k
			}
		}
		if kind != "" {
			return export(u, kind)
		}
		parts := strings.Split(strings.Trim(path, "/"), "/")
		switch {
		case path == "/":
			return show("projects", page{site: "Tracker", title: "Projects", menu: menu, links: to("/projects/%d", 0, projects)})
		case path == "/login":
			return show("login", page{site: "Tracker", title: "Sign in", menu: menu, body: "<form><p>Login <input> Password <input></p></form>"})
		case path == "/issues":
			var all []int
			for n := 1; n <= issues; n++ {
				all = append(all, n)
			}
			return listing(u, all)
		case parts[0] == "projects" && len(parts) > 1 && number(parts[1]) >= 0 && number(parts[1]) < projects:
			n := number(parts[1])
			if len(parts) == 3 && parts[2] == "issues" {
				var own []int
				for i := 1; i <= issues; i++ {
					if i%projects == n {
						own = append(own, i)
					}
				}
				return listing(u, own)
			}
			if len(parts) == 2 && u.RawQuery == "" {
				name := fmt.Sprintf("project %d", n)
				return show(name, page{site: "Tracker", title: title(name), menu: menu, body: story(name, 120), links: []link{{path + "/issues", "Issues"}}})
			}
		case parts[0] == "issues" && len(parts) == 2 && number(parts[1]) >= 1 && number(parts[1]) <= issues:
			name := fmt.Sprintf("issue %s", parts[1])
			p := page{site: "Tracker", title: "Bug #" + parts[1] + ": " + title(name), menu: menu, body: story(name, between(80, 200, name))}
			p.links = []link{{path + ".atom", "Atom"}, {path + ".pdf", "PDF"}, {fmt.Sprintf("/login?back_url=%%2Fissues%%2F%s", parts[1]), "Reply"}}
			return show(name, p)
		}
		return notFound()
	}
	return s
}
