package websites

import (
	"fmt"
	"net/url"
	"strings"
)

// gitWeb returns a site like cgit, with commits and the files at each commit. Each file has log,
// blame, raw and diff views.
func gitWeb(size int) *Site {
	commits, files := size/2, size/4
	s := &Site{Name: "cgit", Why: "blame, plain, patch and raw views; files as of each commit"}
	s.Texts = append(names("commit %d", 0, commits), names("file %d", 0, files)...)
	s.Texts = append(s.Texts, "about")
	hash := func(n int) string {
		rng := luck(fmt.Sprint("commit ", n))
		return fmt.Sprintf("%016x%016x%08x", rng.Uint64(), rng.Uint64(), rng.Uint32())
	}
	file := func(n int) string {
		return fmt.Sprintf("%s/%s%d.c", word(fmt.Sprint("folder ", n%6)), word(fmt.Sprint("file ", n)), n)
	}
	byHash, byFile := map[string]int{}, map[string]int{}
	for n := range commits {
		byHash[hash(n)] = n
	}
	for n := range files {
		byFile[file(n)] = n
	}
	menu := []link{{"/repo/about/", "about"}, {"/repo/", "summary"}, {"/repo/refs/", "refs"}, {"/repo/log/", "log"}, {"/repo/tree/", "tree"}, {"/repo/commit/", "commit"}, {"/repo/diff/", "diff"}, {"/repo/stats/", "stats"}}
	message := func(n int) string { return story(fmt.Sprint("commit ", n), between(80, 150, hash(n))) }
	source := func(n int, as string) string {
		return "<pre><code>" + strings.NewReplacer("<p>", "", "</p>", "", ". ", ";\n").Replace(story(fmt.Sprint("file ", n), 150)) + as + "</code></pre>"
	}
	difference := func(n int, id string) string {
		return fmt.Sprintf("<div class=\"head\">diff --git a/%[1]s b/%[1]s</div>%[2]s", file(n%files), story("difference "+id, 60))
	}
	s.Open = func(u *url.URL, _ int) Answer {
		p := page{site: "repo.git", title: "repo.git", menu: menu}
		rest, ok := after(u, "/repo/")
		if u.Path == "/" {
			p.links = []link{{"/repo/", "repo.git"}}
			return show("projects", p)
		}
		if !ok {
			return notFound()
		}
		view, path, _ := strings.Cut(rest, "/")
		q := u.Query()
		id, n := q.Get("id"), 0
		if id != "" {
			if n, ok = byHash[id]; !ok {
				return notFound()
			}
		}
		f, isFile := byFile[path]
		if path != "" && !isFile && view != "snapshot" {
			return notFound()
		}
		of := fmt.Sprintf("%s of %s as of %s", view, path, id)
		with := ""
		if id != "" {
			with = "?id=" + id
		}
		switch view {
		case "", "log":
			from := max(number(q.Get("ofs")), 0)
			var rows []link
			for n := from; n < min(from+50, commits); n++ {
				rows = append(rows, link{"/repo/commit/?id=" + hash(n), title(fmt.Sprint("commit ", n))})
			}
			p.body = listing(rows, "Commit message")
			if from+50 < commits {
				p.links = append(p.links, link{fmt.Sprintf("/repo/log/?ofs=%d", from+50), "next"})
			}
			p.links = append(p.links, link{"/repo/log/?showmsg=1", "Expand"}, link{"/repo/atom/", "Atom"})
			return show(fmt.Sprintf("%s from %d", of, from), p)
		case "about":
			p.body = story("about the repository", 150)
			return show("about", p)
		case "commit":
			if id == "" {
				n, id = 0, hash(0)
			}
			p.title = title(fmt.Sprint("commit ", n))
			changed := file(n % files)
			p.body = message(n) + "<h2>Diffstat</h2>" + list([]link{{"/repo/diff/" + changed + "?id=" + id, changed}}) + difference(n, id)
			p.links = []link{{"/repo/commit/?id=" + id, id}, {"/repo/patch/?id=" + id, "patch"}, {"/repo/tree/?id=" + id, "tree"}, {"/repo/diff/?id=" + id, "diff"}, {"/repo/rawdiff/?id=" + id, "raw"}, {"/repo/snapshot/repo-" + id[:8] + ".tar.gz", "download"}}
			return show(fmt.Sprint("commit ", n), p)
		case "patch", "rawdiff":
			return Answer{Type: "text/plain; charset=utf-8", Text: of, Body: "From " + id + "\nSubject: " + title(fmt.Sprint("commit ", n)) + "\n" + plain(message(n))}
		case "diff":
			p.body = difference(n, id)
			return show(of, p)
		case "tree":
			if !isFile {
				var rows []link
				for n := range files {
					rows = append(rows, link{"/repo/tree/" + file(n) + with, file(n)})
				}
				p.body = listing(rows, "Name")
				return show(of, p)
			}
			p.title = path
			p.body, p.links = source(f, ""), []link{{"/repo/plain/" + path + with, "plain"}, {"/repo/blame/" + path + with, "blame"}, {"/repo/log/" + path + with, "log"}, {"/repo/tree/" + path, "tip"}}
			return show(fmt.Sprint("file ", f), p) // in a real repository a commit changes few files; here it changes none
		case "plain":
			return Answer{Type: "text/plain; charset=utf-8", Text: of, Body: source(f, "")}
		case "blame":
			p.body = source(f, "\n"+title(path))
			return show(of, p)
		case "snapshot":
			return Answer{Type: "application/x-gzip", Text: "snapshot " + path, Body: "\x1f\x8b" + path}
		case "refs", "stats":
			p.body = story(view, 40)
			return show(of, p)
		case "atom":
			return Answer{Type: "text/xml", Text: of, Body: "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>repo.git</title></feed>"}
		}
		return notFound()
	}
	return s
}

func listing(rows []link, head string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<table class=\"list\"><tr class=\"nohover\"><th>%s</th><th>Size</th></tr>\n", head)
	for _, l := range rows {
		fmt.Fprintf(&b, "<tr><td><a href=\"%s\">%s</a></td><td>%d</td></tr>\n", escape(l.href), escape(l.text), draw("size of "+l.text, 9000))
	}
	b.WriteString("</table>\n")
	return b.String()
}
