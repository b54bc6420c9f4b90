package websites

import (
	"fmt"
	"strings"
)

// status returns a site with a page for each machine. All pages have the same words but different
// values.
func status(size int) *Site {
	s := &Site{Name: "status pages", Why: "one form of words with other values on each page"}
	open := map[string]Answer{}
	var hrefs []link
	for n := range size {
		href := fmt.Sprintf("/status?host=%s-%d", word(fmt.Sprint("host ", n)), n)
		name, rng := "page "+href, luck(href)
		var b strings.Builder
		fmt.Fprintf(&b, "<p>The machine %s is operational since day %d of the year %d.</p>\n", word(href), rng.IntN(365), 2000+rng.IntN(26))
		for _, part := range []string{"load", "memory", "disk", "network", "queue", "temperature", "voltage", "errors"} {
			fmt.Fprintf(&b, "<p>Its %s is at %d.%02d, and was at %d.%02d on %s.</p>\n", part, rng.IntN(100), rng.IntN(100), rng.IntN(100), rng.IntN(100), vocabulary[rng.IntN(len(vocabulary))])
		}
		open[href] = show(name, page{title: "Status of " + word(href), body: b.String(), site: "Machines"})
		hrefs = append(hrefs, link{href, href})
		s.Texts = append(s.Texts, name)
	}
	return lists(s, hrefs, open)
}

// dictionary returns a site whose entries are too short to be compared for duplicates.
func dictionary(size int) *Site {
	s := &Site{Name: "dictionary", Why: "entries of 12 to 40 words"}
	open := map[string]Answer{}
	var hrefs []link
	for n := range size {
		head := vocabulary[n*7%len(vocabulary)]
		href := "/entry/" + head
		name := "page " + href
		open[href] = show(name, page{title: head, body: story(name, between(12, 40, name)), site: "Dictionary"})
		hrefs = append(hrefs, link{href, head})
		s.Texts = append(s.Texts, name)
	}
	return lists(s, hrefs, open)
}

// cjk returns a site with Chinese text at paths with Chinese characters.
func cjk(size int) *Site {
	s := &Site{Name: "cjk", Why: "Chinese texts under /文章/17, in pages by ?页=2"}
	open := map[string]Answer{}
	var hrefs []link
	for n := 1; n <= size/2; n++ {
		path := fmt.Sprintf("/文章/%d", n)
		pages := 1 + draw(path, 3)
		for i := 1; i <= pages; i++ {
			name, href := fmt.Sprintf("page %s %d", path, i), path
			if i > 1 {
				href += fmt.Sprintf("?页=%d", i)
			}
			p := page{lang: "zh", title: han(name, 9), body: "<p>" + han(name, between(150, 400, name)) + "</p>", site: "文集"}
			if i < pages {
				p.links = []link{{fmt.Sprintf("%s?页=%d", path, i+1), "下一页"}}
			}
			if i > 1 {
				open[path+"?%E9%A1%B5="+fmt.Sprint(i)] = show(name, p) // as escaped by url.Values
			} else {
				open[path] = show(name, p)
				hrefs = append(hrefs, link{href, p.title})
			}
			s.Texts = append(s.Texts, name)
		}
	}
	return lists(s, hrefs, open)
}

func han(name string, length int) string {
	rng := luck("han " + name)
	var b strings.Builder
	for n := range length {
		if n%17 == 16 {
			b.WriteRune('。')
		}
		b.WriteRune(rune(0x4e00 + rng.IntN(3000)))
	}
	return b.String()
}

// zones returns a site with parameters that identify the page, although their names look like those
// of trackers and sessions.
func zones(size int) *Site {
	s := &Site{Name: "zones", Why: "utm_zone= and cfid= say which page it is"}
	open := map[string]Answer{}
	var hrefs []link
	add := func(href string) {
		name := "page " + href
		open[href] = show(name, page{title: title(name), body: story(name, between(80, 300, name))})
		hrefs = append(hrefs, link{href, title(name)})
		s.Texts = append(s.Texts, name)
	}
	for n := range size / 2 {
		add(fmt.Sprintf("/map?utm_band=%c&utm_zone=%d", 'C'+n%5, 1+n/5))
		add(fmt.Sprintf("/article?cfid=%d", 1000+7*n))
	}
	return lists(s, hrefs, open)
}
