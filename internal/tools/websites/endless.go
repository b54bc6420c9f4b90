package websites

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The three sites in this file have infinitely many URLs.

// sessions returns a site that adds a session id as a path parameter to all links. Each request
// gets a different id.
func sessions(size int) *Site {
	count := size / 2
	s := &Site{Name: "sessions", Why: ";sid= in the path, another one at each fetch"}
	s.Texts = append(names("page %d", 1, count+1), "home")
	s.Open = func(u *url.URL, visit int) Answer {
		path, _, _ := strings.Cut(u.Path, ";")
		rng := luck(fmt.Sprint("session ", visit))
		sid := fmt.Sprintf(";sid=%016x", rng.Uint64())
		p := page{menu: []link{{"/index.html" + sid, "Home"}}}
		if path == "/" || path == "/index.html" {
			p.title, p.body = "Home", story("home with sessions", 100)
			for n := 1; n <= count; n++ {
				p.links = append(p.links, link{fmt.Sprintf("/page/%d.html%s", n, sid), title(fmt.Sprint("page ", n))})
			}
			return show("home", p)
		}
		n := number(strings.TrimSuffix(strings.TrimPrefix(path, "/page/"), ".html"))
		if n < 1 || n > count {
			return notFound()
		}
		name := fmt.Sprintf("page %d", n)
		p.title, p.body = title(name), story(name, between(80, 300, name))
		for i := range 5 {
			to := 1 + draw(fmt.Sprint(name, i), count)
			p.links = append(p.links, link{fmt.Sprintf("/page/%d.html%s", to, sid), title(fmt.Sprint("page ", to))})
		}
		return show(name, p)
	}
	return s
}

// calendar returns a site with a few events. Its two views have endless links to earlier and later
// months.
func calendar(size int) *Site {
	count := size / 4
	s := &Site{Name: "calendar", Why: "months without end, by path and by parameter"}
	s.Texts = append(names("event %d", 1, count+1), "home")
	grid := func(at time.Time) string {
		var b strings.Builder
		fmt.Fprintf(&b, "<h2>%s</h2><table><tr><th>Mo</th><th>Tu</th><th>We</th><th>Th</th><th>Fr</th><th>Sa</th><th>Su</th></tr>\n<tr>", at.Format("January 2006"))
		for day := at; day.Month() == at.Month(); day = day.AddDate(0, 0, 1) {
			fmt.Fprintf(&b, "<td>%d</td>", day.Day())
			if day.Weekday() == time.Sunday {
				b.WriteString("</tr>\n<tr>")
			}
		}
		b.WriteString("</tr></table><p>There are no events in this month. Choose another month, or look at the list of all events on our home page.</p>")
		return b.String()
	}
	s.Open = func(u *url.URL, _ int) Answer {
		p := page{menu: []link{{"/", "Home"}, {"/calendar/2026/05/", "Calendar"}, {"/events?month=2026-05&view=week", "Weeks"}}}
		if u.Path == "/" {
			p.title, p.body, p.links = "Home", story("home with events", 100), to("/event/%d", 1, count+1)
			return show("home", p)
		}
		if rest, ok := after(u, "/event/"); ok && u.RawQuery == "" {
			if n := number(rest); n >= 1 && n <= count {
				name := fmt.Sprintf("event %d", n)
				p.title, p.body = title(name), story(name, between(80, 300, name))
				return show(name, p)
			}
			return notFound()
		}
		if at, err := time.Parse("/calendar/2006/01/", u.Path); err == nil {
			p.title, p.body = "Calendar", grid(at)
			p.links = []link{{at.AddDate(0, -1, 0).Format("/calendar/2006/01/"), "previous"}, {at.AddDate(0, 1, 0).Format("/calendar/2006/01/"), "next"}}
			return show("month "+at.Format("2006-01"), p)
		}
		if at, err := time.Parse("2006-01", u.Query().Get("month")); err == nil && u.Path == "/events" {
			p.title, p.body = "Events by week", grid(at)
			for _, months := range []int{-12, -1, 1, 12} {
				p.links = append(p.links, link{"/events?month=" + at.AddDate(0, months, 0).Format("2006-01") + "&view=week", "other"})
			}
			return show("weeks "+at.Format("2006-01"), p)
		}
		return notFound()
	}
	return s
}

// growing returns a site with relative links that each add a folder to the path. Every one of these
// URLs returns a page.
func growing(size int) *Site {
	count := size / 4
	s := &Site{Name: "growing paths", Why: "relative links without a slash: /a/b/a/b/..."}
	s.Texts = append(names("page %d", 0, count), "home")
	byName := map[string]int{}
	for n := range count {
		byName[fmt.Sprint(word(fmt.Sprint("growing ", n)), n)] = n
	}
	s.Open = func(u *url.URL, _ int) Answer {
		name := func(n int) string { return fmt.Sprint(word(fmt.Sprint("growing ", n)), n) }
		if u.Path == "/" {
			p := page{title: "Home", body: story("home of growing paths", 100)}
			for n := range count {
				p.links = append(p.links, link{name(n) + "/", name(n)})
			}
			return show("home", p)
		}
		segments := strings.Split(strings.Trim(u.Path, "/"), "/")
		n, ok := byName[segments[len(segments)-1]]
		if !ok || !strings.HasSuffix(u.Path, "/") {
			return notFound()
		}
		text := fmt.Sprintf("page %d", n)
		p := page{title: title(text), body: story(text, between(80, 300, text))}
		for i := range 3 {
			to := (n + 1 + i) % count
			p.links = append(p.links, link{name(to) + "/", name(to)})
		}
		return show(text, p)
	}
	return s
}
