package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Sites of real generators, whose menus or text are drawn by scripts. Each test is skipped if its generator
// is not installed: Debian's package doxygen, and the npm packages swagger-ui-dist and tiddlywiki in the
// folder $SKINK_NODE_MODULES.

// npmPackage returns the folder of an npm package.
func npmPackage(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("SKINK_NODE_MODULES"), name)
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	return dir
}

// drawnBy crawls a site. It returns what the crawl says, and the pages by URL.
func drawnBy(t *testing.T, mode, url string) (said string, pages map[string]fed) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("skink", "crawl", "--render", mode, "--delay", "0", "--learn", "off", url)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages = map[string]fed{}
	for line := range bytes.Lines(runIn(t, dir, "export", "--include", "all")) {
		var d fed
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		pages[d.URL] = d
	}
	return string(out), pages
}

// sentence returns a sentence of n words.
func sentence(r *rand.Rand, n int) string {
	words := strings.Fields("gate river lamp stone meadow copper signal bridge garden letter window harbour winter silver basket thunder")
	said := make([]string, n)
	for i := range said {
		said[i] = words[r.IntN(len(words))]
	}
	return strings.Join(said, " ") + "."
}

// TestDoxygen crawls the pages that Doxygen makes of classes in header files. The main page has no link
// to them, because scripts draw the menus and the tree.
func TestDoxygen(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	headers := map[form]int{short: 8, full: 60}[long(t)]
	doxygen, err := exec.LookPath("doxygen")
	if err != nil {
		t.Skip(err)
	}
	for _, main := range []string{"A short page.", "A page that begins with one link: @ref install."} {
		dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := range headers {
			var b strings.Builder
			fmt.Fprintf(&b, "/** @file\n * @brief %s */\nnamespace ns%d {\n", sentence(r, 20), i%10)
			for j := range 2 {
				fmt.Fprintf(&b, "/** @brief %s */\nclass Part%dx%d {\npublic:\n/** @brief %s */\nint part(int a);\n};\n", sentence(r, 40), i, j, sentence(r, 12))
			}
			write(fmt.Sprintf("part%d.h", i), b.String()+"}\n")
		}
		write("main.dox", "/** @mainpage The manual\n "+main+" */\n/** @page install Installation\n "+sentence(r, 60)+" */\n")
		write("Doxyfile", "PROJECT_NAME=Parts\nINPUT=.\nFILE_PATTERNS=*.h *.dox\nGENERATE_LATEX=NO\nGENERATE_TREEVIEW=YES\nSOURCE_BROWSER=YES\nHAVE_DOT=NO\nQUIET=YES\n")
		cmd := exec.Command(doxygen)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		site := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "html"))))
		defer site.Close()
		made, err := filepath.Glob(filepath.Join(dir, "html", "*.html"))
		if err != nil {
			t.Fatal(err)
		}

		said, _ := drawnBy(t, "off", site.URL)
		if !strings.Contains(said, "are probably drawn by scripts; try --render auto") {
			t.Errorf("without a browser, the crawl says\n%s", said)
		}
		_, pages := drawnBy(t, "auto", site.URL)
		found, drawn := 0, 0
		var missing []string
		for _, name := range made {
			if _, ok := pages[site.URL+"/"+strings.TrimSuffix(filepath.Base(name), "index.html")]; ok {
				found++
			} else {
				missing = append(missing, filepath.Base(name))
			}
		}
		for _, p := range pages {
			if p.Rendered {
				drawn++
			}
		}
		t.Logf("%d of %d pages, %d of them rendered", found, len(made), drawn)
		if 334*found < 330*len(made) || drawn > len(made)/4 {
			t.Errorf("%d of %d pages were found, and %d rendered; missing: %q", found, len(made), drawn, missing)
		}
	}
}

// TestSwagger crawls the description of an interface, which Swagger UI draws.
func TestSwagger(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	long(t)
	dist := npmPackage(t, "swagger-ui-dist")
	type operation struct {
		Summary   string         `json:"summary"`
		Responses map[string]any `json:"responses"`
	}
	paths := map[string]map[string]operation{}
	var want []string
	for _, thing := range strings.Fields("pet order user lamp bridge") {
		for _, path := range []string{"/" + thing + "s", "/" + thing + "s/{id}"} {
			paths[path] = map[string]operation{}
			for _, method := range []string{"get", "delete"} {
				summary := fmt.Sprintf("%s what is known about a %s at %s", map[string]string{"get": "Return", "delete": "Remove"}[method], thing, path)
				paths[path][method] = operation{summary, map[string]any{"200": map[string]string{"description": "ok"}}}
				want = append(want, strings.ToUpper(method)+"\n"+path+"\n"+summary+"\n")
			}
		}
	}
	description, err := json.Marshal(map[string]any{"openapi": "3.0.0", "info": map[string]string{"title": "Shop", "version": "1"}, "paths": paths})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api.json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(description)
		case "/swagger-initializer.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `onload = () => SwaggerUIBundle({url: "api.json", dom_id: "#swagger-ui", presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], layout: "StandaloneLayout"})`)
		default:
			http.FileServer(http.Dir(dist)).ServeHTTP(w, r)
		}
	}))
	defer site.Close()
	_, pages := drawnBy(t, "auto", site.URL)
	text := pages[site.URL+"/"].Text + "\n"
	for _, operation := range want {
		if !strings.Contains(text, operation) {
			t.Errorf("the page lacks %q:\n%s", operation, text)
		}
	}
}

// TestTiddlyWiki crawls a file of 15 notes, which are all in JSON. The wiki shows one of them at first. It
// has links to the others in the list of recent notes, or only in the text of the notes.
func TestTiddlyWiki(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	long(t)
	const notes = 15
	tool := filepath.Join(npmPackage(t, "tiddlywiki"), "tiddlywiki.js")
	for _, dated := range []string{"", "modified: 20260101120000000\n"} {
		dir, r := t.TempDir(), rand.New(rand.NewPCG(5, 6))
		files := map[string]string{
			"tiddlywiki.info":     `{"themes": ["tiddlywiki/vanilla"], "build": {"index": ["--render", "$:/core/save/all", "index.html", "text/plain"]}}`,
			"tiddlers/first.tid":  "title: $:/DefaultTiddlers\n\n[[Note 0]]\n",
			"tiddlers/system.tid": "title: $:/help\n" + dated + "\nThis note of the system is not shown.\n",
		}
		texts := make([]string, notes)
		for i := range notes {
			texts[i] = sentence(r, 40)
			link := fmt.Sprintf("[[Note %d]]", (i+1)%notes)
			if dated != "" {
				link = ""
			}
			files[fmt.Sprintf("tiddlers/note%d.tid", i)] = fmt.Sprintf("title: Note %d\n%s\n%s %s\n", i, dated, texts[i], link)
		}
		for name, text := range files {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("node", tool, dir, "--build", "index").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		site := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "output"))))
		defer site.Close()
		var said string
		var pages map[string]fed
		found := 0
		for try := 0; try < 6 && found < notes; try++ { // on a busy machine, the browser may not get its time
			said, pages = drawnBy(t, "auto", site.URL)
			found = 0
			for _, text := range texts {
				if strings.Contains(pages[site.URL+"/"].Text, text) {
					found++
				}
			}
		}
		if found != notes || strings.Contains(pages[site.URL+"/"].Text, "of the system") {
			t.Errorf("dates %q: the text of %d of %d notes was found:\n%s\n%s", dated, found, notes, pages[site.URL+"/"].Text, said)
		}
	}
}

// TestStreamed crawls pages like those of Next's app router, one of which asks to wait until its
// scripts have run.
func TestStreamed(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	const posts = 30
	layout := func(title, main, script string) string {
		return `<!DOCTYPE html><html lang="en"><head><title>` + title + `</title><script src="/_next/static/chunks/main-app.js" async=""></script></head><body>` +
			`<div hidden=""><!--$--><!--/$--></div><header><a href="/">Skerry</a><nav><a href="/about/">About us</a></nav></header><main>` + main +
			`</main><footer><p>Copyright 2026</p></footer><script>(self.__next_f=self.__next_f||[]).push([0])</script><script>` + script + `</script></body></html>`
	}
	late := "This text comes from a script that ran when the page had been loaded, and no server has ever sent it to anybody who asked."
	r := rand.New(rand.NewPCG(3, 4))
	site := map[string]string{
		"/about/": layout("About", "<h1>About</h1><p>"+sentence(r, 60)+"</p>", ""),
		"/late/":  layout("Late", "<!--$!--><template data-dgst></template><p>Loading…</p><!--/$-->", `setTimeout(() => document.querySelector("main").innerHTML = "<h1>Late</h1><p>`+late+`</p>", 900)`),
	}
	var list strings.Builder
	for i := range posts {
		url := fmt.Sprintf("/post/%d/", i)
		fmt.Fprintf(&list, `<li><a href="%s">Post number %d</a></li>`, url, i)
		site[url] = layout(fmt.Sprint("Post ", i), "<article><h1>Post</h1><p>"+sentence(r, 80)+"</p></article>", "")
	}
	site["/"] = layout("Posts", `<h1>Posts</h1><ul>`+list.String()+`</ul><p><a href="/late/">The late page</a></p>`, "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := site[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(page))
	}))
	defer server.Close()
	said, pages := drawnBy(t, "auto", server.URL)
	if len(pages) != len(site) || !strings.Contains(said, "\n1 page rendered with a browser\n") || !strings.Contains(pages[server.URL+"/late/"].Text, late) {
		t.Errorf("%d of %d pages; the late one is %q\n%s", len(pages), len(site), pages[server.URL+"/late/"].Text, said)
	}
}
