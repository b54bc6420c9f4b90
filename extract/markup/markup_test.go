package markup

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"
)

// TestChecks reads two pages for each check of the HTML: one with the fault, and one without it.
func TestChecks(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/checks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range archive.Files {
		pages[f.Name] = string(f.Data)
	}
	for _, c := range Checks {
		if c.Fault.OfHeader() || c.Fault == OtherLanguage || c.Fault == SentAsText {
			continue // the HTML of a page does not show a fault of the header, or of its text
		}
		has, near := pages[c.Name+"/has"], pages[c.Name+"/near"]
		if has == "" || near == "" {
			t.Errorf("%s: testdata/checks.txtar has no pages for it", c.Name)
			continue
		}
		delete(pages, c.Name+"/has")
		delete(pages, c.Name+"/near")
		want, body, _ := strings.Cut(has, "\n")
		facts := read(t, body)
		switch got := strings.Join(facts.Examples(c.Fault), " "); {
		case !facts.Faults.Has(c.Fault):
			t.Errorf("%s is not found in %s", c.Name, body)
		case !strings.EqualFold(got, want):
			t.Errorf("%s: the examples are %q, want %q", c.Name, got, want)
		}
		if facts := read(t, near); facts.Faults.Has(c.Fault) {
			t.Errorf("%s is found, with %q, in %s", c.Name, facts.Examples(c.Fault), near)
		}
	}
	for name := range pages {
		t.Errorf("no check has the name of the page %s", name)
	}
}

func read(t testing.TB, page string) Facts {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return Read(root, Options{Anchors: true})
}

// TestNumbers checks that no two checks share a number or a name, because both are stored or documented.
func TestNumbers(t *testing.T) {
	numbers, names := map[Fault]string{}, map[string]bool{}
	for _, c := range Checks {
		if numbers[c.Fault] != "" || names[c.Name] || c.Fault > 63 {
			t.Errorf("%s has the number %d of %q, or a name that is taken", c.Name, c.Fault, numbers[c.Fault])
		}
		numbers[c.Fault], names[c.Name] = c.Name, true
	}
}

// TestClean checks that the facts of a page without faults are the zero value, which is not stored.
func TestClean(t *testing.T) {
	facts := read(t, `<!doctype html><html lang=en><meta name=viewport content="width=device-width"><title>Boats</title><h1>Boats</h1><p>All boats.`)
	if facts.Faults != 0 || facts.Shown != nil || len(facts.Anchors) != 1 {
		t.Errorf("got %+v", facts)
	}
}

func TestAnchors(t *testing.T) {
	facts := read(t, `<p id=one><p id=café><a name="two"><p id="a%20b"><svg><g id=drawn></g></svg><p id="">`)
	for fragment, want := range map[string]bool{"one": true, "two": true, "caf%C3%A9": true, "café": true, "a%20b": true, "a%2520b": true, "drawn": true, "three": false, "One": false} {
		if got := slices.Contains(facts.Anchors, Anchor(fragment)); got != want {
			t.Errorf("anchor %s: %v, want %v", fragment, got, want)
		}
	}
	if !slices.IsSorted(facts.Anchors) {
		t.Errorf("%v is not sorted", facts.Anchors)
	}
}

// TestExamples checks the limits on the number and size of the stored examples.
func TestExamples(t *testing.T) {
	facts := read(t, strings.Repeat("<img src=same.png>", 9)+`<img src="data:image/png;base64,`+strings.Repeat("é", 100_000)+`"><img src=b.png><img src=c.png><img src=d.png>`)
	all := facts.Examples(ImageAlt)
	if len(all) != maxExamples || all[0] != "same.png" || len(all[1]) > maxExample || !strings.HasSuffix(all[1], "é…") {
		t.Errorf("got %q", all)
	}
	facts.Drop(ImageAlt)
	if facts.Faults.Has(ImageAlt) || facts.Examples(ImageAlt) != nil || !facts.Faults.Has(ImageSize) || len(facts.Examples(ImageSize)) != maxExamples {
		t.Errorf("after Drop: %+v", facts)
	}
}
