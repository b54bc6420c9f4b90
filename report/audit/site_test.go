package audit_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/extract/markup"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

const origin = "https://shop.example"

// A planted URL is a URL of the test shop with its record, its text and its links. Its path names
// the fault it was given.
type planted struct {
	store.Record
	text  string
	links []string // path and text of each link, separated by a space
}

// good returns a page without a fault. Its text and title contain its path, so that no two pages
// are alike. Each function in more then changes the page.
func good(path string, more ...func(p *planted)) planted {
	name := strings.Trim(strings.ReplaceAll(path, "/", " "), " ")
	p := planted{Record: store.Record{
		URL: origin + path, Kind: store.Page, Status: 200, ContentType: "text/html", Fetch: store.Fetch{Size: 5000, Took: 80, Depth: 1,
			Words: 90},
		Judged: store.Judged{Verdict: dedup.Unique}, CanonicalURL: origin + path,
		Title: "What there is to know of " + name, H1: []string{"All of " + name},
		Description: "A description of " + name + ", which is as long as those that search engines show in full.",
	}, text: strings.Repeat(name+" is told of at length here and nowhere else ", 9)}
	for _, change := range more {
		change(&p)
	}
	return p
}

func ended(path string, kind store.RecordKind, status int, problem string) planted {
	return planted{Record: store.Record{URL: origin + path, Kind: kind, Status: status, Fetch: store.Fetch{Problem: problem, Depth: 1}}}
}

func redirect(path, to string) planted {
	p := ended(path, store.Redirect, 301, "")
	if p.Location = to; strings.HasPrefix(to, "/") {
		p.Location = origin + to
	}
	return p
}

func linking(links ...string) func(*planted) {
	return func(p *planted) { p.links = append(p.links, links...) }
}

// copyOf returns a change that makes a page a copy of the page at path.
func copyOf(path string) func(*planted) {
	return func(p *planted) {
		other := good(path)
		p.text, p.Verdict, p.Resemblance = other.text, dedup.Exact, 1
		p.Leader, p.DuplicateOf = dedup.HashOf([]byte(other.URL)), other.URL
	}
}

// inCity returns a change that gives a page a text which is the same for all cities except for
// their names.
func inCity(name string) func(*planted) {
	return func(p *planted) {
		p.text = strings.Repeat("our shop in "+name+" is open on all days but not at night and no order is too small for us ", 4)
	}
}

// nearly returns the pages whose texts come from inCity as one group of pages that are almost
// duplicates.
func nearly(context.Context) (*audit.Nearly, error) {
	id := func(path string) dedup.Hash { return dedup.HashOf([]byte(origin + path)) }
	return &audit.Nearly{From: 0.3, Groups: []audit.NearlyGroup{
		{Leader: id("/oslo"), Members: []audit.NearlyPage{{ID: id("/bergen"), Resemblance: 0.4375}, {ID: id("/narvik"), Resemblance: 0.4375}}},
	}}, nil
}

func canonical(to string) func(*planted) {
	return func(p *planted) {
		if p.CanonicalURL = to; strings.HasPrefix(to, "/") {
			p.CanonicalURL = origin + to
		}
	}
}

func with(change func(r *store.Record)) func(*planted) { return func(p *planted) { change(&p.Record) } }

func speaks(pairs ...string) func(*planted) {
	return func(p *planted) {
		for i := 0; i < len(pairs); i += 2 {
			p.Alternates = append(p.Alternates, store.Alternate{Lang: pairs[i], URL: origin + pairs[i+1]})
		}
	}
}

// shop returns the URLs of a site that has each fault which an audit can find.
func shop() []planted {
	all := []planted{
		good("/", with(func(r *store.Record) { r.Depth = 0 })),
		good("/linker", linking("/gone our old offer", "/gone again", "/old-offer offer", "/first chain", "/loop-a round", "/to-gone dead", "/secret keep out", "/moved-alone moved")),
		good("/second-linker", linking("/gone gone too", "/soft soft", "/fails fails", "/silent silent", "/inside inside", "/garbled garbled")),

		ended("/gone", store.Error, 404, "status 404"),
		ended("/soft", store.Error, 200, "soft 404"),
		ended("/members", store.Error, 403, "status 403"),
		ended("/fails", store.Error, 500, "status 500"),
		ended("/silent", store.Error, 0, "timeout"),
		ended("/inside", store.Error, 0, "private address"),
		ended("/garbled", store.Error, 200, "content encoding"),

		redirect("/old-offer", "/linker"),
		redirect("/first", "/second"), redirect("/second", "/third"), redirect("/third", "/linker"),
		redirect("/loop-a", "/loop-b"), redirect("/loop-b", "/loop-a"),
		redirect("/to-gone", "/gone"),
		redirect("/elsewhere", "https://other.example/"),
		redirect("/moved-alone", "/only-moved"),
		good("/only-moved", with(func(r *store.Record) { r.Hops = 0 })),

		good("/names-gone", canonical("/gone")),
		good("/names-moved", canonical("/old-offer")),
		good("/names-other", canonical("/linker")),
		good("/names-two", with(func(r *store.Record) { r.Canonicals = []string{origin + "/names-two", origin + "/linker"} })),
		good("/copy-names-copy", copyOf("/linker"), canonical("/copy-names")),
		good("/copy-names", copyOf("/linker"), canonical("/linker")),
		good("/names-host", canonical("https://other.example/")),
		good("/names-nothing", canonical("")),
		good("/names-unseen", canonical("/nobody-knows")),

		good("/en", speaks("en", "/en", "de", "/de", "fr", "/fr")),
		good("/de", speaks("en", "/en", "de", "/de", "es", "/gone")),
		good("/fr"),
		good("/it", speaks("it_IT", "/hidden", "fr", "/fr", "fr", "/de")),
		good("/nl", speaks("x-default", "/nl", "nl", "/nl")),

		good("/untitled", with(func(r *store.Record) { r.Title = "" })),
		good("/title-of-h1", with(func(r *store.Record) { r.TitleFrom = "h1" })),
		good("/shared-only", with(func(r *store.Record) { r.SharedOnly = true })),
		good("/same-1", with(func(r *store.Record) { r.Title, r.H1[0] = "The same title", "The same heading" })),
		good("/same-2", with(func(r *store.Record) { r.Title, r.H1[0] = "The same title", "The same heading" })),
		good("/twin", with(func(r *store.Record) { r.Title = "The title of two twins" })),
		good("/twin-copy", copyOf("/twin"), with(func(r *store.Record) { r.Title = "The title of two twins" })),
		good("/brief", with(func(r *store.Record) {
			r.Title, r.H1[0], r.Description = "Brief", "B", "Brief."
			r.Source = store.Source{Read: true, Title: r.Title, CanonicalURL: r.CanonicalURL, NoIndex: true, NoFollow: true}
		})),
		good("/wordy", with(func(r *store.Record) {
			r.Title, r.H1[0], r.Description = strings.Repeat("Title ", 20), strings.Repeat("Heading ", 20), strings.Repeat("Description ", 20)
		})),
		good("/undescribed", with(func(r *store.Record) { r.Description = "" })),
		good("/same-words", with(func(r *store.Record) { r.Description = good("/undescribed").Description })),
		good("/same-words-2", with(func(r *store.Record) { r.Description = good("/undescribed").Description })),
		good("/unheaded", with(func(r *store.Record) { r.H1 = nil })),
		good("/two-heads", with(func(r *store.Record) { r.H1 = []string{"The first of two heads", "The second of two heads"} })),

		good("/near", with(func(r *store.Record) {
			r.Verdict, r.Resemblance, r.Leader, r.DuplicateOf = dedup.Near, 0.9, dedup.HashOf([]byte(origin+"/linker")), origin+"/linker"
		})),
		good("/thin", with(func(r *store.Record) { r.Verdict, r.Words = dedup.Thin, 12 })),
		good("/index-of", with(func(r *store.Record) { r.Verdict, r.Words, r.Title = dedup.Thin, 12, "Index of /files" })),
		good("/empty", with(func(r *store.Record) { r.Verdict, r.Words, r.Size = dedup.Thin, 0, 0 })),
		good("/drawn", with(func(r *store.Record) { r.Verdict, r.Words, r.Root = dedup.Thin, 0, "none" }), linking("/app.js")),
		good("/app", with(func(r *store.Record) {
			r.Verdict, r.Words, r.H1, r.NeedsScripts = dedup.Thin, 2, []string{"Our shop"}, "root"
		}), linking("/app.js")),
		good("/menus", with(func(r *store.Record) { r.Verdict, r.Words, r.Root = dedup.Thin, 0, "none" }), linking("/linker links", "/thin thin")),
		good("/hidden", with(func(r *store.Record) { r.NoIndex, r.Title = true, "" })),
		ended("/secret", store.Blocked, 0, "robots.txt"),
		good("/orphan"),
		good("/slow", with(func(r *store.Record) { r.Took = 1200 })),
		good("/large", with(func(r *store.Record) { r.Size = 1_200_000 })),
		good("/deep", with(func(r *store.Record) {
			r.RenderError = "the page stopped responding"
			r.Source = store.Source{Read: true, Title: r.Title, CanonicalURL: r.CanonicalURL, Links: 3, LinksAfter: 5}
		})), // a sitemap lists it, so its depth is 1
		good("/oslo", inCity("Oslo"), linking("/bergen north")), good("/bergen", inCity("Bergen"), linking("/narvik north")), good("/narvik", inCity("Narvik"), linking("/faulty more")),
		good("/faulty", linking("/deep more"), with(func(r *store.Record) { // a page with each fault of HTML and headers
			for _, c := range markup.Checks {
				r.Faults |= 1 << c.Fault
				r.Faulty = append(r.Faulty, fmt.Sprint(c.Fault, " an example"))
			}
		})),
		good("/Upper%20case//part/part", with(func(r *store.Record) { r.URL += "/" + strings.Repeat("long", 25); r.CanonicalURL = r.URL })),
		{Record: store.Record{URL: origin + "/big.png", Kind: store.Other, Status: 200, ContentType: "image/png", Fetch: store.Fetch{Size: 120_000}, Checked: true}},
		good("/turned", linking("/members next", "/linker next", "/big.png picture", "/missing.png picture", "/missing.js script")),
		ended("/missing.js", store.Error, 404, "status 404"),
		{Record: store.Record{URL: origin + "/missing.png", Kind: store.Error, Status: 404, Fetch: store.Fetch{Problem: "status 404"}, Checked: true}},
		good("/anchored", with(func(r *store.Record) { r.Anchors = anchors("", "part", "café") })),
		good("/leads", linking("/anchored#part#caf%C3%A9 fine", "/anchored#lost#part lost", "/linker#any unknown")),
		good("/listed-hidden", with(func(r *store.Record) { r.NoIndex = true })),
		good("/listed-copy", copyOf("/linker"), canonical("/linker")),
		ended("/lost.xml", store.Error, 503, "status 503"),
		{Record: store.Record{URL: origin + "/map.xml", Kind: store.Sitemap, Sitemap: true}, links: []string{"/linker", "/orphan", "/gone", "/old-offer", "/secret", "/listed-hidden", "/listed-copy", "/nobody-knows"}},
		{Record: store.Record{URL: origin + "/other-map.xml", Kind: store.Sitemap, Sitemap: true}, links: []string{"/linker"}},
		{Record: store.Record{URL: origin + "/sealed.pdf", Kind: store.Other, Status: 200, ContentType: "application/pdf", Fetch: store.Fetch{Size: 500, Took: 80, Depth: 1, Detail: "no text can be read from this PDF: the file is encrypted, and needs a password"}}},
		{Record: store.Record{URL: origin + "/notes.txt", Kind: store.Page, Status: 200, ContentType: "text/plain", Fetch: store.Fetch{Size: 500, Took: 80, Depth: 1, Words: 90}, Judged: store.Judged{Verdict: dedup.Unique}, Root: "plain"}, text: strings.Repeat("a plain text has no title ", 20)},
	}
	for i := range all {
		if r := &all[i].Record; strings.HasSuffix(r.URL, "/lost.xml") {
			r.Sitemap = true
		}
	}
	var links []string // the front page links to all pages except those that test missing links and clicks
	far := map[string]bool{"/bergen": true, "/narvik": true, "/faulty": true, "/deep": true}
	for _, p := range all {
		path := strings.TrimPrefix(p.URL, origin)
		if p.Kind == store.Page && path != "/orphan" && path != "/only-moved" && path != "/" && !far[path] {
			links = append(links, path+" "+p.Title)
		}
	}
	all[0].links = append(links, "/ home")
	return all
}

// anchors returns the hashes of anchors in the form in which a record stores them.
func anchors(names ...string) (all []byte) {
	var hashes []uint16
	for _, name := range names {
		hashes = append(hashes, markup.Anchor(name))
	}
	slices.Sort(hashes)
	for _, h := range hashes {
		all = binary.BigEndian.AppendUint16(all, h)
	}
	return all
}

var visited = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// filled returns a store with the planted URLs.
func filled(t testing.TB, all []planted) *storetest.Memory {
	t.Helper()
	s := storetest.NewMemory()
	for i, p := range all {
		p.ID, p.FetchedAt = dedup.HashOf([]byte(p.URL)), visited.Add(time.Duration(i)*time.Second)
		var text dedup.Text
		text.Read([]byte(p.text))
		p.Hash = text.Hash()
		e := &store.Entry{Record: p.Record}
		if p.text != "" {
			e.Text = store.Pack([]byte(p.text))
		}
		if p.links != nil {
			var links []store.Link
			for _, l := range p.links {
				path, words, _ := strings.Cut(l, " ")
				kind := store.LinkAnchor
				path, fragments, _ := strings.Cut(path, "#")
				switch {
				case words == "next":
					kind = store.LinkNeighbour
				case strings.HasSuffix(path, ".png"):
					kind = store.LinkImage
				case p.Kind == store.Sitemap:
					kind = store.LinkListed
				case strings.HasSuffix(path, ".js"):
					kind = store.LinkScript
				}
				links = append(links, store.Link{URL: origin + path, Text: words, Kind: kind, Fragments: strings.ReplaceAll(fragments, "#", "\n")})
			}
			e.Out = store.PackLinks(p.URL, links)
		}
		if _, err := s.Commit(context.Background(), []*store.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func read(t testing.TB, s store.Reader) *audit.Audit {
	t.Helper()
	return readWith(t, s, func(*store.Settings) {})
}

// readWith audits a store after change has changed its settings.
func readWith(t testing.TB, s store.Reader, change func(s *store.Settings)) *audit.Audit {
	t.Helper()
	set := store.Settings{Similarity: 0.8, MinWords: 50, Shingle: 10, Scheme: "bands"}
	change(&set)
	a, err := audit.Read(context.Background(), s, audit.Options{About: report.About{Store: "shop", Settings: set}, Nearly: nearly})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
