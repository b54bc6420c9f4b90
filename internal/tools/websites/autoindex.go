package websites

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// autoindex returns a site with listings like those of Apache's mod_autoindex: each folder can be
// sorted by four keys, ascending or descending (?C=N;O=D).
func autoindex(size int) *Site {
	s := &Site{Name: "autoindex", Why: "listings of folders in eight orders: ?C=N;O=D"}
	folders := map[string][]string{} // names in each folder; a name that ends in / is a folder
	var fill func(path string, depth int)
	fill = func(path string, depth int) {
		s.Texts = append(s.Texts, path)
		for n := range 3 + draw(path, 3) {
			name := fmt.Sprintf("%s-%d.txt", word(fmt.Sprint(path, n)), n)
			folders[path] = append(folders[path], name)
			s.Texts = append(s.Texts, path+name)
		}
		if depth == 0 {
			return
		}
		for n := range 3 {
			name := word(fmt.Sprint(path, "folder ", n)) + "/"
			folders[path] = append(folders[path], name)
			if len(s.Texts) < size {
				fill(path+name, depth-1)
			} else {
				folders[path] = folders[path][:len(folders[path])-1]
			}
		}
	}
	fill("/", 4)
	s.Open = func(u *url.URL, _ int) Answer {
		inside, isFolder := folders[u.Path]
		if !isFolder {
			if !slices.Contains(s.Texts, u.Path) {
				return notFound()
			}
			return Answer{Type: "text/plain; charset=utf-8", Text: u.Path, Body: plain(story(u.Path, between(80, 300, u.Path)))}
		}
		inside = slices.Clone(inside)
		order := strings.ReplaceAll(u.RawQuery, "%3B", ";")
		if column, _, _ := strings.Cut(order, ";"); column != "" && column != "C=N" {
			slices.SortStableFunc(inside, func(a, b string) int { return draw(column+a, 100_000) - draw(column+b, 100_000) })
		}
		if strings.HasSuffix(order, "O=D") {
			slices.Reverse(inside)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\">\n<html>\n<head><title>Index of %s</title></head>\n<body>\n<h1>Index of %s</h1>\n<table>\n<tr>", u.Path, u.Path)
		for _, column := range []struct{ letter, name string }{{"N", "Name"}, {"M", "Last modified"}, {"S", "Size"}, {"D", "Description"}} {
			direction := "A"
			if order == "C="+column.letter+";O=A" || order == "" && column.letter == "N" {
				direction = "D"
			}
			fmt.Fprintf(&b, "<th><a href=\"?C=%s;O=%s\">%s</a></th>", column.letter, direction, column.name)
		}
		b.WriteString("</tr>\n")
		if u.Path != "/" {
			up := u.Path[:strings.LastIndexByte(strings.TrimSuffix(u.Path, "/"), '/')+1]
			fmt.Fprintf(&b, "<tr><td><a href=\"%s\">Parent Directory</a></td><td>&nbsp;</td><td align=\"right\">  - </td><td>&nbsp;</td></tr>\n", up)
		}
		for _, name := range inside {
			fmt.Fprintf(&b, "<tr><td><a href=\"%s\">%s</a></td><td align=\"right\">2026-05-%02d 1%d:%02d  </td><td align=\"right\">%d.%dK</td><td>&nbsp;</td></tr>\n", name, name, 1+draw(name, 28), draw(name, 9), draw("minute"+name, 60), 1+draw("size "+name, 90), draw(name, 10))
		}
		b.WriteString("</table>\n<address>Apache/2.4.57 (Debian) Server</address>\n</body></html>\n")
		return Answer{Text: u.Path, Body: b.String()}
	}
	return s
}
