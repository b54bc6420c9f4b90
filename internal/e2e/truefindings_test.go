package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestFindingsAreTrue audits a manual, a wiki and a blog, and checks their findings against the files
// of the site. The manual and the wiki are from Debian packages that were unpacked into the folder
// SKINK_DOCS. The blog is written by the program pelican, from the texts of licences.
//
// The checks read the files with a tokenizer, and share no code with the audit. For some findings,
// the test also checks that no page is missing in the list.
func TestFindingsAreTrue(t *testing.T) {
	t.Parallel()
	for _, site := range []struct {
		name string
		dir  func(t *testing.T) string
	}{
		{"manual", func(t *testing.T) string { return unpackedDocs(t, "python3.*/html") }},
		{"wiki", func(t *testing.T) string { return unpackedDocs(t, "ikiwiki/html") }},
		{"blog", writeBlog},
	} {
		t.Run(site.name, func(t *testing.T) {
			t.Parallel()
			checkFindings(t, &auditedSite{dir: site.dir(t), pages: map[string]*pageTokens{}})
		})
	}
}

// unpackedDocs returns a folder of unpacked documentation that matches a pattern. If there is no such
// folder, the test is skipped.
func unpackedDocs(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.Getenv("SKINK_DOCS"), "usr/share/doc", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SKINK_DOCS") == "" || len(found) == 0 {
		t.Skipf("no %s in the folder SKINK_DOCS", pattern)
	}
	return found[0]
}

// writeBlog makes a blog with the standard theme of pelican and returns its folder. Each post is the
// text of a licence.
func writeBlog(t *testing.T) string {
	t.Helper()
	licences, _ := filepath.Glob("/usr/share/common-licenses/*")
	if _, err := exec.LookPath("pelican"); err != nil || len(licences) < 5 {
		t.Skip("no pelican, or no licences of Debian")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "content"), 0o777); err != nil {
		t.Fatal(err)
	}
	markup := regexp.MustCompile("[<>&`*_#|\\[\\]\\\\]")
	for i, name := range licences {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		for line := range strings.Lines(markup.ReplaceAllString(string(text), "")) {
			body.WriteString(strings.TrimSpace(line) + "\n")
		}
		base := filepath.Base(name)
		post := fmt.Sprintf("Title: The licence %s\nDate: 2024-%02d-%02d\nCategory: %s\nTags: %s\n\n%s", base, i%12+1, i%28+1, []string{"short", "long"}[i%2], base[:1], body.String())
		writeTo(t, filepath.Join(dir, "content", base+".md"), post)
	}
	writeTo(t, filepath.Join(dir, "conf.py"), "SITENAME='Licences'\nSITEURL=''\nTIMEZONE='UTC'\nDEFAULT_LANG='en'\nDEFAULT_PAGINATION=5\nPATH='content'\nSUMMARY_MAX_LENGTH=50\n")
	cmd := exec.Command("pelican", "content", "-o", "blog", "-s", "conf.py")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pelican: %v\n%s", err, out)
	}
	return filepath.Join(dir, "blog")
}

func writeTo(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A finding contains those fields of a finding in the JSON of an audit that the test reads.
type finding struct {
	Name  string
	Count int
	Rows  []findingRow
}

type findingRow struct {
	URL, Title string
	Pages      string // share of the host's pages, if the row is a fault of their template
}

func checkFindings(t *testing.T, site *auditedSite) {
	dir := t.TempDir()
	runIn(t, dir, "crawl", site.dir, "--audit", "--quiet", "--store", "store")
	var audit struct {
		Pages    int
		Findings []finding
	}
	if err := json.Unmarshal(runIn(t, dir, "report", "--store", "store", "--about", "audit", "--format", "json"), &audit); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(28, 2026))
	kinds, rows := 0, 0
	for _, f := range audit.Findings {
		if len(f.Rows) > 0 {
			example, _ := json.Marshal(f.Rows[random.IntN(len(f.Rows))])
			t.Logf("%s: %d; for example %s", f.Name, f.Count, example)
		}
		isTrue, known := findingChecks[f.Name]
		if !known {
			continue
		}
		kinds++
		listed, ofTemplate := map[string]bool{}, 0
		for _, row := range f.Rows {
			rows++
			listed[row.URL] = true
			if n, _, is := strings.Cut(row.Pages, " of "); is {
				pages, err := strconv.Atoi(strings.ReplaceAll(n, ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				ofTemplate += pages - 1
			}
			if !isTrue(site.page(row.URL), &row) {
				t.Errorf("%s is not true of %+v", f.Name, row)
			}
		}
		if !slices.Contains(completeFindings, f.Name) {
			continue
		}
		for address, p := range site.pages {
			if p.body == nil || !isTrue(p, &findingRow{URL: address, Title: p.title}) || listed[address] {
				continue
			}
			if ofTemplate--; ofTemplate < 0 {
				t.Errorf("%s is true of %s, which is not listed", f.Name, address)
			}
		}
	}
	t.Logf("%d pages; checked %d findings of %d kinds", audit.Pages, rows, kinds)
	if kinds < 5 || rows < 50 {
		t.Errorf("checked only %d findings of %d kinds", rows, kinds)
	}
}

// findingChecks contains a function for each kind of finding that the test can check. The function
// reports whether a page has the fault.
var findingChecks = map[string]func(p *pageTokens, row *findingRow) bool{
	"broken.gone":          func(p *pageTokens, _ *findingRow) bool { return p.body == nil },
	"markup.viewport":      func(p *pageTokens, _ *findingRow) bool { return !p.hasMeta("viewport") },
	"markup.lang":          func(p *pageTokens, _ *findingRow) bool { return p.lang == "" },
	"canonicals.missing":   func(p *pageTokens, _ *findingRow) bool { return len(p.canonicals) == 0 },
	"canonicals.scheme":    func(p *pageTokens, _ *findingRow) bool { return !strings.HasPrefix(p.canonicals[0], "http") },
	"descriptions.missing": func(p *pageTokens, _ *findingRow) bool { return p.metas["description"] == "" },
	"titles.long":          func(p *pageTokens, row *findingRow) bool { return len([]rune(p.title)) > 60 && p.title == row.Title },
	"titles.short":         func(p *pageTokens, row *findingRow) bool { return len([]rune(p.title)) < 10 && p.title == row.Title },
	"titles.repeated":      func(p *pageTokens, row *findingRow) bool { return p.title == row.Title },
	"headings.missing": func(p *pageTokens, _ *findingRow) bool {
		return !slices.ContainsFunc(p.main, func(h string) bool { return h != "" })
	},
	"headings.several": func(p *pageTokens, _ *findingRow) bool { return len(p.main) > 1 },
	"headings.skipped": func(p *pageTokens, _ *findingRow) bool { return p.skipsLevel() },
	"images.alt":       func(p *pageTokens, _ *findingRow) bool { return p.hasImageWithout("alt") },
	"images.size": func(p *pageTokens, _ *findingRow) bool {
		return p.hasImageWithout("width") || p.hasImageWithout("height")
	},
	"images.long-alt": func(p *pageTokens, _ *findingRow) bool {
		return slices.ContainsFunc(p.images, func(image map[string]string) bool { return len([]rune(image["alt"])) > 125 })
	},
	"markup.ids": func(p *pageTokens, _ *findingRow) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(p.ids)), func(n int) bool { return n > 1 })
	},
	"markup.frames": func(p *pageTokens, _ *findingRow) bool {
		return slices.ContainsFunc(p.frames, func(f map[string]string) bool { return f["title"] == "" })
	},
	"markup.language": func(p *pageTokens, _ *findingRow) bool { return !strings.HasPrefix(p.lang, "en") },
	"links.scheme": func(p *pageTokens, _ *findingRow) bool {
		return slices.ContainsFunc(p.hrefs, func(href string) bool { return strings.Trim(strings.Split(href, ":")[0], "htps") == "" })
	},
	"noindex":    func(p *pageTokens, _ *findingRow) bool { return strings.Contains(p.metas["robots"], "noindex") },
	"urls.upper": func(_ *pageTokens, row *findingRow) bool { return pathOf(row.URL) != strings.ToLower(pathOf(row.URL)) },
}

// completeFindings contains the findings that must list every page that has the fault, or count it as a fault of
// the template.
var completeFindings = []string{"markup.viewport", "markup.lang", "images.alt", "images.size", "images.long-alt"}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

// An auditedSite is a site in a folder, with the tokens of its pages by their URLs.
type auditedSite struct {
	dir   string
	pages map[string]*pageTokens
}

// page reads the file of a URL.
func (s *auditedSite) page(address string) *pageTokens {
	if p := s.pages[address]; p != nil {
		return p
	}
	path := pathOf(address)
	if strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	body, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(path)))
	p := &pageTokens{metas: map[string]string{}, ids: map[string]int{}}
	if err == nil {
		p.body = body
		p.read()
	}
	s.pages[address] = p
	return p
}

// pageTokens contains the parts of a page that the checks need, as read from the page's tokens.
type pageTokens struct {
	body        []byte // content of the file; nil if there is no such file
	title, lang string
	metas       map[string]string // values of the first meta element with each name, in lower case
	canonicals  []string
	main        []string // texts of the h1 elements
	levels      []int    // levels of all headings
	images      []map[string]string
	frames      []map[string]string
	ids         map[string]int // number of elements with each id
	hrefs       []string       // of all links
}

func (p *pageTokens) hasMeta(name string) bool {
	_, has := p.metas[name]
	return has
}

func (p *pageTokens) hasImageWithout(name string) bool {
	return slices.ContainsFunc(p.images, func(image map[string]string) bool {
		_, has := image[name]
		return !has
	})
}

func (p *pageTokens) skipsLevel() bool {
	for i := 1; i < len(p.levels); i++ {
		if p.levels[i] > p.levels[i-1]+1 {
			return true
		}
	}
	return false
}

// read fills p from its tokens. A title inside an SVG picture is not the title of the page.
func (p *pageTokens) read() {
	var text *strings.Builder // the text of the title or heading that is being read
	pictures := 0
	for z := html.NewTokenizer(bytes.NewReader(p.body)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		token := z.Token()
		attributes := map[string]string{}
		for _, a := range token.Attr {
			if _, has := attributes[a.Key]; !has {
				attributes[a.Key] = a.Val
			}
		}
		if id := attributes["id"]; id != "" && kind != html.EndTagToken {
			p.ids[id]++
		}
		words := func() string { return strings.Join(strings.Fields(text.String()), " ") }
		level := 0
		if len(token.Data) == 2 && token.Data[0] == 'h' && '1' <= token.Data[1] && token.Data[1] <= '6' {
			level = int(token.Data[1] - '0')
		}
		switch {
		case kind == html.TextToken && text != nil:
			text.WriteString(token.Data)
		case kind == html.EndTagToken && token.Data == "svg":
			pictures--
		case kind == html.EndTagToken && text != nil && token.Data == "title":
			p.title, text = words(), nil
		case kind == html.EndTagToken && text != nil && level > 0:
			if level == 1 {
				p.main = append(p.main, words())
			}
			text = nil
		case kind == html.TextToken || kind == html.EndTagToken:
		case token.Data == "svg":
			pictures++
		case token.Data == "title" && p.title == "" && pictures == 0:
			text = new(strings.Builder)
		case level > 0:
			p.levels = append(p.levels, level)
			text = new(strings.Builder)
		case token.Data == "iframe":
			p.frames = append(p.frames, attributes)
		case token.Data == "a":
			p.hrefs = append(p.hrefs, attributes["href"])
		case token.Data == "html":
			p.lang = attributes["lang"] + attributes["xml:lang"]
		case token.Data == "img":
			p.images = append(p.images, attributes)
			if text != nil {
				text.WriteString(attributes["alt"])
			}
		case token.Data == "meta":
			name := strings.ToLower(attributes["name"])
			if !p.hasMeta(name) {
				p.metas[name] = strings.TrimSpace(attributes["content"])
			}
		case token.Data == "link" && slices.Contains(strings.Fields(strings.ToLower(attributes["rel"])), "canonical"):
			p.canonicals = append(p.canonicals, attributes["href"])
		}
	}
}
