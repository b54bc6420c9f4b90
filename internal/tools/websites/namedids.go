package websites

import "fmt"

// namedIDs returns a site whose page ids are in parameters. The parameter names contain words that
// calendars use: "vendor" contains "end". The values look like years in the far future.
func namedIDs(size int) *Site {
	s := &Site{Name: "named ids", Why: "?vendor=3012, ?candidate=, ?scale=, ?part=, ?law=, ?from=&to="}
	open := map[string]Answer{}
	var hrefs []link
	rng := luck("named ids")
	for _, name := range []string{"vendor", "candidate", "scale", "part", "law", "end", "from", "to", "start", "calibre", "update"} {
		for id := 2090; id < 2090+size*50; id += 1 + rng.IntN(1000) {
			href := fmt.Sprintf("/browse?%s=%d", name, id)
			if name == "from" {
				href += fmt.Sprintf("&to=%d", 2090+rng.IntN(5000))
			}
			text := "page " + href
			open[href] = show(text, page{title: title(text), body: story(text, between(80, 300, text))})
			hrefs = append(hrefs, link{href, title(text)})
			s.Texts = append(s.Texts, text)
		}
	}
	return lists(s, hrefs, open)
}
