package websites

import (
	"fmt"
	"net/url"
	"strings"
)

// stations returns a site about weather stations, with a page for each kind of measurement. The
// first 20 stations have no data, so all their pages have the same text. The later stations have
// different tables.
func stations(size int) *Site {
	kinds := []string{"temperature", "wind", "rain"}
	count := equalPages + size/4
	s := &Site{Name: "stations", Why: "the first 20 stations have no data, and equal pages"}
	s.Texts = append(names("station %d", equalPages+1, count+1), "network", "no data")
	for n := equalPages + 1; n <= count; n++ {
		for _, kind := range kinds {
			s.Texts = append(s.Texts, fmt.Sprintf("station %d %s", n, kind))
		}
	}
	s.Open = func(u *url.URL, _ int) Answer {
		q := u.Query()
		n, kind := number(q.Get("id")), q.Get("kind")
		switch {
		case u.Path == "/":
			p := page{title: "Stations of the network", site: "Weather"}
			for n := 1; n <= count; n++ {
				bare := fmt.Sprintf("/station?id=%d", n)
				p.links = append(p.links, link{bare, title(bare)})
				for _, k := range kinds {
					p.links = append(p.links, link{bare + "&kind=" + k, k})
				}
			}
			return show("network", p)
		case u.Path != "/station" || n < 1 || n > count || q.Has("kind") && kind != kinds[0] && kind != kinds[1] && kind != kinds[2]:
			return notFound()
		}
		p := page{title: "Station", site: "Weather", links: []link{{"/", "All stations"}}}
		if n <= equalPages {
			p.body = story("no data", 70)
			return show("no data", p)
		}
		name := strings.TrimSpace(fmt.Sprintf("station %d %s", n, kind))
		p.title = title(fmt.Sprint("station ", n))
		p.body = story(name, 60) + table(name, 12)
		return show(name, p)
	}
	return s
}

func table(name string, rows int) string {
	var b strings.Builder
	rng := luck("table of " + name)
	b.WriteString("<table><tr><th>Day</th><th>Least</th><th>Most</th><th>Note</th></tr>\n")
	for day := range rows {
		fmt.Fprintf(&b, "<tr><td>%d</td><td>%.1f</td><td>%.1f</td><td>%s</td></tr>\n", day+1, rng.Float64()*20, 20+rng.Float64()*20, vocabulary[rng.IntN(len(vocabulary))])
	}
	b.WriteString("</table>\n")
	return b.String()
}
