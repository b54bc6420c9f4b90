package websites

import (
	"html"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestTruth follows the links of each site, breadth first. It expects to find each of the site's
// texts, and no URL that the server counts as invented. On sites with infinitely many URLs it stops
// after a while.
func TestTruth(t *testing.T) {
	const size, least, most = 60, 300, 2000
	seen := map[string]bool{}
	for _, site := range All(size) {
		if seen[site.Name] {
			t.Errorf("two sites are called %s", site.Name)
		}
		seen[site.Name] = true
		t.Run(site.Name, func(t *testing.T) {
			t.Parallel()
			server := Serve(site)
			start, err := url.Parse("/" + site.Start)
			if site.Start != "" {
				start, err = url.Parse(site.Start)
			}
			if err != nil {
				t.Fatal(err)
			}
			queue, known := []*url.URL{start}, map[string]bool{start.RequestURI(): true}
			bodies := map[string]string{} // bodies of the site's texts, by name of the text
			real := map[string]bool{}
			for _, text := range site.Texts {
				if real[text] {
					t.Errorf("the site names the text %q twice", text)
				}
				real[text] = true
			}
			for n := 0; n < len(queue) && n < most; n++ {
				if n >= least && len(bodies) == len(site.Texts) {
					break
				}
				at := queue[n]
				r := httptest.NewRequest("GET", at.RequestURI(), nil)
				w := httptest.NewRecorder()
				server.ServeHTTP(w, r)
				body := w.Body.String()
				if text, _ := site.Of(at.RequestURI()); real[text] && bodies[text] == "" {
					bodies[text] = body
				}
				var hrefsHere []string
				for _, m := range hrefs.FindAllStringSubmatch(body, -1) {
					hrefsHere = append(hrefsHere, html.UnescapeString(m[1]))
				}
				if to := w.Header().Get("Location"); to != "" {
					hrefsHere = append(hrefsHere, to)
				}
				for _, href := range hrefsHere {
					to, err := at.Parse(href)
					if err != nil {
						t.Fatalf("%s links to %q: %v", at, href, err)
					}
					to.Fragment = ""
					if !known[to.RequestURI()] {
						known[to.RequestURI()] = true
						queue = append(queue, to)
					}
				}
			}
			tally := server.Tally()
			if tally.Found != len(site.Texts) {
				t.Errorf("%d of %d texts were met, missing %q", tally.Found, len(site.Texts), tally.Missing[:min(10, len(tally.Missing))])
			}
			if tally.Probes > 0 || len(tally.Invented) > 0 {
				t.Errorf("%d probes and %q count as invented, and all were linked", tally.Probes, tally.Invented)
			}
			different := map[string]string{}
			for text, body := range bodies {
				if other := different[body]; other != "" {
					t.Errorf("%q and %q are the same page", text, other)
				}
				different[body] = text
			}
		})
	}
}

// TestInvented requests URLs that nothing links to. The first URL of each shape counts as a probe.
func TestInvented(t *testing.T) {
	server := Serve(namedIDs(20))
	for _, uri := range []string{"/", "/browse?vendor=no-such", "/browse?vendor=neither", "/browse?vendor=2090&lang=de", "/elsewhere/x", "/nothing-like-this"} {
		server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", uri, nil))
	}
	tally := server.Tally()
	if tally.Fetched != 6 || tally.Probes != 2 || len(tally.Invented) != 3 {
		t.Errorf("%d requests, %d probes, and %q invented; want 6, 2 and 3", tally.Fetched, tally.Probes, tally.Invented)
	}
}
