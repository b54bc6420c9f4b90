package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"
)

// TestAudit crawls the shop in testdata/audit, which contains every fault that the audit can find,
// and compares each list with the expected table.
func TestAudit(t *testing.T) {
	t.Parallel()
	origin := plantedSite(t)
	dir := t.TempDir()
	runIn(t, dir, "crawl", "--quiet", "--audit", "--delay", "0", "--retries", "0", "--parallel", "1", "--min-words", "20", origin+"/")

	want := map[string][]string{}
	for _, row := range rows("testdata/audit/findings.tsv") {
		want[row[0]] = append(want[row[0]], strings.Join(row[1:], " "))
	}
	got := map[string][]string{}
	for _, list := range []string{
		"broken", "redirects", "canonicals", "hreflang", "titles", "descriptions", "headings", "duplicates",
		"thin", "no-text", "noindex", "blocked", "orphans", "sitemap", "slow", "large", "deep",
		"links", "images", "markup", "forms", "structured", "sharing", "urls", "security", "transfer",
	} {
		for _, row := range readTable(t, runIn(t, dir, "report", "--about", list, "--format", "csv")) {
			if line := strings.ReplaceAll(auditLine(row), origin, ""); !slices.Contains(got[row["finding"]], line) {
				got[row["finding"]] = append(got[row["finding"]], line)
			}
		}
	}
	delete(got, "canonicals.self") // this finding lists pages without a fault
	var names []string
	for name := range got {
		names = append(names, name)
	}
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		g, w := got[name], want[name]
		slices.Sort(g)
		slices.Sort(w)
		if name == "slow" && len(w) == 1 && slices.Contains(g, w[0]) {
			continue // on a busy machine, other pages may be slow too
		}
		if !slices.Equal(g, w) {
			t.Errorf("%s\n got %q\nwant %q", name, g, w)
		}
	}
	if len(want) < 40 {
		t.Errorf("only %d findings are planted", len(want))
	}
}

// auditLine formats a row of a list like the expected table: the URL, the reason why the row is not
// counted, related URLs, and the linking page.
func auditLine(row map[string]string) string {
	line := row["url"]
	for _, column := range []string{"apart", "way", "canonical", "alternate", "same_as", "example", "fragments", "target", "neighbour", "sitemap"} {
		if v := row[column]; v != "" {
			line += " " + strings.ReplaceAll(v, " ", "_")
		}
	}
	if strings.HasPrefix(row["finding"], "broken") && row["linked_from"] != "" {
		line += " from " + row["linked_from"] + " " + strings.ReplaceAll(row["link_text"], " ", "_")
	}
	return strings.TrimSpace(line)
}

// runIn runs skink in the folder dir and returns its standard output.
func runIn(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("skink", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("skink %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return out
}

// readTable parses CSV. It returns each row as a map from the names of the columns to the cells.
func readTable(t *testing.T, text []byte) (all []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\uFEFF")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		all = append(all, row)
	}
	return all
}

// plantedSite serves the shop. The format of its file is described at the top of that file.
func plantedSite(t *testing.T) (origin string) {
	archive, err := txtar.ParseFile("testdata/audit/site.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, ok := files[r.URL.EscapedPath()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		first, body, _ := strings.Cut(file, "\n")
		code, how, _ := strings.Cut(first, " ")
		status, _ := strconv.Atoi(code)
		switch {
		case code == "cut":
			panic(http.ErrAbortHandler)
		case status/100 == 3 && how != "":
			w.Header().Set("Location", how)
		case how == "wait":
			time.Sleep(1100 * time.Millisecond)
		case how == "noindex":
			w.Header().Set("X-Robots-Tag", "noindex")
		case how == "large":
			body += "<!-- " + strings.Repeat("filler ", 150_000) + "-->"
		}
		switch {
		case strings.HasSuffix(r.URL.Path, ".txt"), how == "text":
			w.Header().Set("Content-Type", "text/plain")
		case strings.HasSuffix(r.URL.Path, ".xml"):
			w.Header().Set("Content-Type", "application/xml")
		case strings.HasSuffix(r.URL.Path, ".png"):
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if how != "bare" && body != "" {
				body = `<!doctype html><html lang=en><meta name=viewport content="width=device-width">` + body
			}
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(strings.ReplaceAll(filledIn(body), "@origin@", "http://"+r.Host))) // the crawl reports an incomplete response
	}))
	t.Cleanup(server.Close)
	return server.URL
}

var macro = regexp.MustCompile(`@(good|title|description|canonical|heading|text) ([\w-]+)@`)

// filledIn replaces the macros in a page of the shop.
func filledIn(body string) string {
	return macro.ReplaceAllStringFunc(body, func(m string) string {
		found := macro.FindStringSubmatch(m)
		parts := map[string]string{
			"title":       "<title>What there is to know of %[1]s</title>",
			"description": "<meta name=description content=\"A description of %[1]s, as long as those that search engines show in full, and no longer.\">",
			"canonical":   "<link rel=canonical href=\"@origin@/%[1]s\">",
			"heading":     "<h1>All of %[1]s</h1>",
			"text":        "<p>" + paragraph(found[2]) + "</p>",
		}
		if found[1] != "good" {
			return fmt.Sprintf(parts[found[1]]+"%.0[1]s", found[2])
		}
		var all string
		for _, part := range []string{"title", "description", "canonical", "heading", "text"} {
			all += fmt.Sprintf(parts[part]+"%.0[1]s", found[2])
		}
		return all
	})
}

// paragraph returns a text that differs for each name.
func paragraph(name string) string {
	h := fnv.New64a()
	h.Write([]byte(name))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	var b strings.Builder
	for range 6 {
		b.WriteString("The")
		for range 13 {
			b.WriteByte(' ')
			for range 2 + random.IntN(3) {
				b.WriteByte("bdfgklmnprst"[random.IntN(12)])
				b.WriteByte("aeiou"[random.IntN(5)])
			}
		}
		b.WriteString(". ")
	}
	return b.String()
}

// TestBrokenRecounted compares the report of broken links with a count from the files of a site.
// Only the list of crawled pages comes from skink. SKINK_SITES may name folders of other sites,
// separated by colons.
func TestBrokenRecounted(t *testing.T) {
	t.Parallel()
	sites := []string{"testdata/site"}
	if more := os.Getenv("SKINK_SITES"); more != "" {
		sites = append(sites, filepath.SplitList(more)...)
	}
	for _, site := range sites {
		folder, err := filepath.Abs(site)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		runIn(t, dir, "crawl", "--quiet", folder)
		want := recounted(t, folder, readTable(t, runIn(t, dir, "report", "--about", "pages", "--format", "csv")))
		got, named := map[string]int{}, map[string]map[string]bool{}
		for _, row := range readTable(t, runIn(t, dir, "report", "--about", "broken", "--format", "csv")) {
			target := plainly(row["url"])
			got[target], _ = strconv.Atoi(row["links"])
			if named[target] == nil {
				named[target] = map[string]bool{}
			}
			named[target][plainly(row["linked_from"])] = true
		}
		if len(got) == 0 {
			t.Errorf("%s: nothing is broken, and so nothing is compared", site)
		}
		links := 0
		for target, from := range want {
			links += len(from)
			if got[target] != len(from) {
				t.Errorf("%s: %d pages link to %s, and the report says %d", site, len(from), target, got[target])
			}
			for page := range named[target] {
				if !from[page] {
					t.Errorf("%s: the report says that %q links to %s", site, page, target)
				}
			}
		}
		for target := range got {
			if want[target] == nil {
				t.Errorf("%s: %s is in the report, and no link to it is broken", site, target)
			}
		}
		t.Logf("%s: %d addresses to which %d links lead", site, len(want), links)
	}
}

// recounted returns the broken links of a site: for each missing URL, the pages that link to it.
func recounted(t *testing.T, folder string, crawled []map[string]string) map[string]map[string]bool {
	t.Helper()
	missing := map[string]map[string]bool{}
	followed := map[string]bool{}
	for _, row := range crawled {
		if row["kind"] != "page" || !strings.Contains(row["type"], "html") {
			continue
		}
		origin := "http://" + row["host"]
		page := plainly(row["url"])
		name, _, _ := strings.Cut(strings.TrimPrefix(page, origin), "?")
		text, err := os.ReadFile(fileOf(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := html.Parse(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		base, links, nofollow := row["url"], map[string]bool{}, false
		for n := range doc.Descendants() {
			href := ""
			switch n.Data {
			case "base":
				base = resolved(origin, base, attribute(n, "href"))
			case "a", "area":
				href = attribute(n, "href")
			case "frame", "iframe":
				href = attribute(n, "src")
			case "meta":
				nofollow = nofollow || strings.EqualFold(attribute(n, "name"), "robots") && strings.Contains(strings.ToLower(attribute(n, "content")), "nofollow")
			}
			if href = strings.TrimSpace(href); href == "" {
				continue
			}
			target := plainly(resolved(origin, base, href))
			name, ok := strings.CutPrefix(target, origin+"/")
			if name, _, _ = strings.Cut(name, "?"); !ok || exists(folder, "/"+name) {
				continue
			}
			links[target] = true
			if !nofollow && !strings.Contains(attribute(n, "rel"), "nofollow") {
				followed[target] = true
			}
		}
		for target := range links {
			if missing[target] == nil {
				missing[target] = map[string]bool{}
			}
			missing[target][page] = true
		}
	}
	for target := range missing {
		if !followed[target] {
			delete(missing, target) // only nofollow links lead to this URL, so it was not requested
		}
	}
	return missing
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// resolved resolves a link in a page of the origin by RFC 3986, section 5.2, without net/url.
func resolved(origin, base, href string) string {
	href, _, _ = strings.Cut(href, "#")
	href, query, asks := strings.Cut(href, "?")
	switch {
	case scheme.MatchString(href):
		if !strings.HasPrefix(href, origin+"/") {
			return href
		}
		href = strings.TrimPrefix(href, origin)
	case strings.HasPrefix(href, "//"):
		return "http:" + href
	case !strings.HasPrefix(href, "/"):
		here, before, had := strings.Cut(strings.TrimPrefix(base, origin), "?")
		if href == "" {
			if !asks {
				query, asks = before, had
			}
			href = here
		} else {
			href = here[:strings.LastIndexByte(here, '/')+1] + href
		}
	}
	var out []string
	parts := strings.Split(strings.ReplaceAll(href, "\\", "/"), "/")[1:]
	for i, part := range parts {
		last := i == len(parts)-1
		switch part {
		case "..":
			out = out[:max(0, len(out)-1)]
		case ".":
		default:
			out = append(out, part)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	href = origin + "/" + strings.Join(out, "/")
	if asks {
		href += "?" + query
	}
	return href
}

// plainly returns a URL without percent escapes. A "%" that is not part of an escape stays.
func plainly(raw string) string {
	return escape.ReplaceAllStringFunc(raw, func(m string) string {
		b, _ := strconv.ParseUint(m[1:], 16, 8)
		return string([]byte{byte(b)})
	})
}

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// fileOf returns the name of the file that is served under a path.
func fileOf(folder, name string) string {
	file := filepath.Join(folder, filepath.FromSlash(path.Clean("/"+name)))
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		for _, index := range []string{"index.html", "index.htm"} {
			if _, err := os.Stat(filepath.Join(file, index)); err == nil {
				return filepath.Join(file, index)
			}
		}
	}
	return file
}

// exists reports whether there is a file or a folder for a path. A folder is served as a list.
func exists(folder, name string) bool {
	if strings.Contains(name, "/.") {
		return false // hidden files are not served
	}
	info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(path.Clean("/"+name))))
	return err == nil && (info.IsDir() || !strings.HasSuffix(name, "/"))
}
