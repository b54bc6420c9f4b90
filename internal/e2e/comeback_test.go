package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// cameBack returns the part of a summary that counts the visits to known URLs.
func cameBack(said string) string {
	_, rest, _ := strings.Cut(said, "revisited ")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// changes is the output of report --changes.
type changes struct {
	Changed, Gone []struct {
		URL        string
		At, Before time.Time
	}
	Restless []struct{ URL, Text string }
	Round    struct{ Changed, Gone int } `json:"last_round"`
}

func (c *hourCrawl) changes() (all changes) {
	c.t.Helper()
	out, _ := c.run("report", "--store", c.dir+"/store", "--changes", "--format", "json")
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		c.t.Fatal(err)
	}
	return all
}

// The summary and the report must count the same pages as changed and gone, whatever else happened.
// A URL that was no page before must not count as a new failure.
func TestComeBackCounts(t *testing.T) {
	t.Parallel()
	site := newHourSite(t)
	round := 0
	site.become(func(w http.ResponseWriter, r *http.Request) bool {
		switch path := r.URL.Path; {
		case path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /a/1\nAllow: /a/1$\n") // disallows /a/1 and the ten articles from /a/10 to /a/19, but allows /a/1 itself
		case path == "/a/2": // this page never exists
			http.NotFound(w, r)
		case path == "/a/3" && round == 0, path == "/a/4" && round > 0: // /a/3 becomes a page, /a/4 stops being one
			http.Redirect(w, r, "/a/5", http.StatusFound)
		case path == "/a/6" && round > 0: // the text is unchanged, but must not be indexed
			w.Header().Set("X-Robots-Tag", "noindex")
			return false
		case path == "/a/8" && round > 1: // this page disappears
			http.NotFound(w, r)
		default:
			return false
		}
		return true
	})
	crawl := newHourCrawl(t, site)
	for _, want := range []struct {
		edited        string
		said          string
		changed, gone int
	}{
		{"/a/7", "21 URLs: 6 same, 1 changed, 2 changed otherwise, 1 gone, 11 still without a page", 1, 1},
		{"/a/9", "21 URLs: 8 same, 1 changed, 1 gone, 11 still without a page", 1, 1},
		{"", "21 URLs: 9 same, 12 still without a page", 0, 0},
	} {
		round++
		if want.edited != "" {
			site.edited[want.edited] = 1
		}
		said, _ := crawl.round()
		c := crawl.changes()
		if got := cameBack(said); got != want.said {
			t.Errorf("round %d: came back to %s, want %s", round, got, want.said)
		}
		if c.Round.Changed != want.changed || c.Round.Gone != want.gone {
			t.Errorf("round %d: the report has %d changed and %d gone in the last round, want %d and %d", round, c.Round.Changed, c.Round.Gone, want.changed, want.gone)
		}
	}
}

// TestRestless revisits pages with a passage that changes at every visit: the time, a captcha, or a
// counter. From the third visit on, such a change alone must not count, and the report must list
// the passage. A change by an editor must count at every visit.
func TestRestless(t *testing.T) {
	t.Parallel()
	site := newHourSite(t)
	n := 0
	site.become(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/a/1" && r.URL.Path != "/a/2" {
			return false
		}
		n++
		captcha := string(rune('A'+n%26)) + string(rune('A'+n*7%26)) + string(rune('B'+n*3%25)) + "Q"
		version := site.edited[r.URL.Path]
		fmt.Fprintf(w, "<title>Article</title><article><p>%s</p><p>Type the letters %s to write a comment here.</p><p>%s</p><p>Retrieved at 12:%02d:%02d by visitor %d.</p></article>",
			prose(len(r.URL.Path)*10+int(r.URL.Path[3]), version), captcha, prose(77, 0), n/60, n%60, 1000+n)
		return true
	})
	crawl := newHourCrawl(t, site)
	for i, want := range []string{"changed /a/1 /a/2", "changed /a/1 /a/2", "", "", "changed /a/2", "", "changed /a/1", ""} {
		switch i {
		case 4:
			site.edited["/a/2"] = 1
		case 6:
			site.edited["/a/1"] = 2
		}
		if said, changes := crawl.round(); changes != want {
			t.Errorf("visit %d: the feed has %q, want %q\n%s", i+2, changes, want, cameBack(said))
		}
	}
	var named []string
	for _, r := range crawl.changes().Restless {
		named = append(named, regexp.MustCompile(`^.*/a`).ReplaceAllString(r.URL, "/a")+" "+r.Text)
	}
	if text := strings.Join(named, "\n"); len(named) != 4 || strings.Count(text, "Type the letters ") != 0 && strings.Count(text, "the letters ") != 2 || strings.Count(text, "visitor") < 2 {
		t.Errorf("the report names:\n%s", text)
	}
	if out, _ := crawl.run("report", "--store", crawl.dir+"/store", "--changes"); !regexp.MustCompile(`(?m)^ignored  http\S+/a/1\n  reason: this text changed on each of the last \d+ visits: `).MatchString(out) {
		t.Errorf("the report says:\n%s", out)
	}
}

// In TestBeforeIsAVisit, a page is a duplicate of another, is judged again when the other
// disappears, and then changes. The time before the change must be that of the visit that found the
// old text, and not that of the second judgement.
func TestBeforeIsAVisit(t *testing.T) {
	t.Parallel()
	site := newHourSite(t)
	site.become(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/a/1" && site.edited["/a/1"] > 0 {
			http.NotFound(w, r)
			return true
		}
		if r.URL.Path == "/a/1" || r.URL.Path == "/a/2" {
			fmt.Fprintf(w, "<title>Article</title><article><p>%s</p></article>", prose(99, site.edited["/a/2"]))
			return true
		}
		return false
	})
	crawl := newHourCrawl(t, site)
	first := time.Now()
	site.edited["/a/1"] = 1
	crawl.round() // /a/1 is gone, so /a/2 is judged again
	site.edited["/a/2"] = 1
	crawl.round()
	c := crawl.changes()
	if len(c.Changed) != 1 || !strings.HasSuffix(c.Changed[0].URL, "/a/2") || c.Changed[0].Before.After(first) {
		t.Errorf("%+v, and the text before was found before %v", c.Changed, first)
	}
}
