package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"

	"skink/dedup"
	"skink/internal/cli"
	"skink/internal/tools/websites"
)

// bounds are what a crawl of a site must keep to.
type bounds struct {
	found   float64 // least share of the site's texts that are found
	fetches float64 // most fetches for each of these texts; 0: any number up to tooMany
	probes  int     // most URLs fetched that nothing led to, the first of each shape of URLs
	made    int     // most such URLs beyond the first of their shape
	sorry   int     // most pages kept that say, with status 200, that there is no such page
	endless bool    // the crawl need not end
}

var (
	// recall is what is wanted where URLs that look like traps or copies have texts of their own.
	recall = bounds{found: .995, probes: 8}
	// economy is what is wanted where each page has many views.
	economy = bounds{found: 1, fetches: 3, probes: 8}
	// manyFolders is wanted where pages are in so many folders that more patterns need a probe.
	manyFolders = bounds{found: 1, fetches: 3, probes: 20}
	// trapped is what is wanted where URLs never end.
	trapped = bounds{found: 1, fetches: 6, probes: 8}
)

// siteBounds has a row for each site: what is wanted, and what holds where that is not reached yet.
var siteBounds = map[string]struct{ wanted, today bounds }{
	"forum":          {recall, recall},
	"numbers":        {recall, recall},
	"named ids":      {recall, recall},
	"late parameter": {recall, recall},
	"languages":      {recall, recall},
	"stations":       {recall, recall},
	"colours":        {recall, recall},
	"templated shop": {recall, recall},
	"status pages":   {recall, recall},
	"statutes":       {recall, recall},
	"dictionary":     {recall, recall},
	"cjk":            {recall, recall},
	"zones":          {recall, recall},
	"missing topics": {recall, recall},
	"withdrawn":      {recall, recall},
	"mediawiki":      {economy, economy},
	"dokuwiki":       {economy, bounds{found: 1, fetches: 3, probes: 8, sorry: 3}}, // samples of views of missing topics: too few of a pattern for a probe
	"wordpress":      {economy, economy},
	"autoindex":      {economy, economy},
	"redmine":        {economy, economy},
	// Differences, and files that nobody calls raw, are texts of their own under URLs of pages: 2 fetches
	// for each text. Each folder needs a row of copies of its own before its files are postponed.
	"cgit": {manyFolders, bounds{found: 1, fetches: 6, probes: 20}},
	// All 61 texts come before the first copy, so only a row of 30 copies is evidence. Each page that is
	// fetched has new URLs. With 241 texts there are 2.3 fetches for each.
	"sessions":      {economy, bounds{found: 1, fetches: 4, probes: 8}},
	"calendar":      {trapped, trapped},
	"growing paths": {trapped, trapped},
}

// TestSites crawls generated sites with the defaults of skink crawl, and holds what was found, and
// what that cost, against what the sites have. It prints one row for each site.
//
// Found are texts whose page is in the store and is no error. An invented URL is one that no page
// led to. One for each shape of URLs is a probe: it asks what the site says of what does not exist.
func TestSites(t *testing.T) {
	const size = 120
	rows := &siteTable{}
	t.Cleanup(func() { t.Log(rows) })
	for _, site := range websites.All(size) {
		t.Run(site.Name, func(t *testing.T) {
			t.Parallel()
			c := newSiteCrawl(t, site)
			c.run(t)
			r := c.result(t)
			rows.add(site, r)
			r.check(t, siteBounds)
		})
	}
}

// TestSitesInterrupted does the same with crawls that are interrupted three times, twice by a kill
// that nothing can be written after, and then go on until they end.
//
// Sites of 120 pages with SKINK_LONG=short, of 480 with SKINK_LONG=full.
func TestSitesInterrupted(t *testing.T) {
	const again = 20 // fetches and probes that interrupted runs may repeat
	size := 120
	if long(t) == full {
		size = 480
	}
	skink := buildSkink(t)
	rows := &siteTable{}
	t.Cleanup(func() { t.Log(rows) })
	for _, site := range websites.All(size) {
		t.Run(site.Name, func(t *testing.T) {
			t.Parallel()
			c := newSiteCrawl(t, site)
			ended := false
			for n, signal := range []os.Signal{syscall.SIGKILL, os.Interrupt, syscall.SIGKILL} {
				if !ended {
					ended = c.interrupt(t, skink, (n+1)*len(site.Texts)*3/10, signal)
				}
			}
			if !ended {
				c.run(t)
			}
			r := c.result(t)
			rows.add(site, r)
			r.Fetched -= again
			r.check(t, siteBounds)
		})
	}
}

// A siteCrawl is a crawl of a site into a store of its own.
type siteCrawl struct {
	site   *websites.Site
	server *websites.Server
	store  string
	seed   string
	cut    bool // the crawl was ended because it asked for too much
}

// tooMany is after how many fetches for each text a crawl is ended that would not end.
const tooMany = 10

func newSiteCrawl(t *testing.T, site *websites.Site) *siteCrawl {
	c := &siteCrawl{site: site, server: websites.Serve(site), store: filepath.Join(t.TempDir(), "store")}
	server := httptest.NewServer(c.server)
	t.Cleanup(server.Close)
	c.seed = server.URL + site.Start
	if site.Start == "" {
		c.seed += "/"
	}
	return c
}

func (c *siteCrawl) args() []string {
	return []string{"crawl", "--store", c.store, "--delay", "0", "--allow-private", "127.0.0.0/8", "--quiet", c.seed}
}

// run crawls until the crawl ends, or has asked for far too much.
func (c *siteCrawl) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	enough := c.server.After(tooMany * len(c.site.Texts))
	go func() {
		select {
		case <-enough:
			cancel()
		case <-ctx.Done():
		}
	}()
	var said bytes.Buffer
	code := cli.Run(ctx, c.args(), cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &said})
	if c.cut = ctx.Err() != nil; code != 0 && !c.cut {
		t.Fatalf("exit code %d\n%s", code, &said)
	}
}

// interrupt crawls in a process of its own until the server was asked so often in all, and then
// sends it a signal. It says whether the crawl ended before that.
func (c *siteCrawl) interrupt(t *testing.T, skink string, requests int, signal os.Signal) (ended bool) {
	t.Helper()
	enough := c.server.After(requests)
	cmd := exec.Command(skink, c.args()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exit := make(chan error, 1)
	go func() { exit <- cmd.Wait() }()
	select {
	case err := <-exit:
		if err != nil {
			t.Fatalf("crawl: %v", err)
		}
		return true
	case <-enough:
		_ = cmd.Process.Signal(signal) // it may have ended just now
		return <-exit == nil
	}
}

// A siteResult is what a crawl has found, and what it cost.
type siteResult struct {
	websites.Tally
	site    string
	texts   int      // that the site has
	kept    int      // of them are in the store
	missing []string // the others
	// mistaken are pages that were judged to be copies of another and have a text of their own.
	mistaken []string
	sorry    int  // pages in the store that say that there is no such page
	cut      bool // the crawl was ended, see tooMany
}

func (r *siteResult) share() float64   { return float64(r.kept) / float64(r.texts) }
func (r *siteResult) fetches() float64 { return float64(r.Fetched) / float64(r.texts) }

// result asks the server what it was asked for, and the store what it holds.
func (c *siteCrawl) result(t *testing.T) *siteResult {
	t.Helper()
	var out, said bytes.Buffer
	if code := cli.Run(t.Context(), []string{"export", "--store", c.store, "--include", "all"}, cli.Console{In: strings.NewReader(""), Out: &out, Err: &said}); code != 0 {
		t.Fatalf("export: exit code %d\n%s", code, &said)
	}
	r := &siteResult{site: c.site.Name, Tally: c.server.Tally(), texts: len(c.site.Texts), cut: c.cut}
	kept := map[string]bool{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		text, sorry := c.site.Of(l.URL)
		if kept[text] = true; sorry {
			r.sorry++
		}
		if leader, _ := c.site.Of(l.DuplicateOf); l.Verdict == dedup.Exact && leader != text && slices.Contains(c.site.Texts, text) {
			r.mistaken = append(r.mistaken, text+" for "+leader)
		}
	}
	for _, text := range c.site.Texts {
		if kept[text] {
			r.kept++
		} else {
			r.missing = append(r.missing, text)
		}
	}
	return r
}

// check holds a result against what is to hold today, and says what is missing to what is wanted.
func (r *siteResult) check(t *testing.T, all map[string]struct{ wanted, today bounds }) {
	t.Helper()
	row, ok := all[r.site]
	if !ok {
		t.Fatalf("siteBounds has no row for %s", r.site)
	}
	for _, wrong := range row.today.broken(r) {
		t.Error(wrong)
	}
	if row.today == row.wanted {
		return
	}
	missing := row.wanted.broken(r)
	if len(missing) == 0 {
		t.Log("all that is wanted holds: raise the bounds of today")
	}
	for _, wrong := range missing {
		t.Log("wanted: ", wrong)
	}
}

// broken says which of the bounds a result does not keep to.
func (b bounds) broken(r *siteResult) (wrong []string) {
	say := func(form string, args ...any) { wrong = append(wrong, fmt.Sprintf(form, args...)) }
	if r.share() < b.found {
		say("%d of %d texts were found, want %.1f %%; missing %q", r.kept, r.texts, 100*b.found, r.missing[:min(10, len(r.missing))])
	}
	if r.cut && !b.endless {
		say("the crawl did not end after %d fetches", r.Fetched)
	}
	if b.fetches > 0 && r.fetches() > b.fetches {
		say("%.1f fetches for each text, want %.1f", r.fetches(), b.fetches)
	}
	if r.Probes > b.probes {
		say("%d probes, want %d", r.Probes, b.probes)
	}
	if len(r.Invented) > b.made {
		say("%d URLs were fetched that nothing led to, want %d: %q", len(r.Invented), b.made, r.Invented[:min(10, len(r.Invented))])
	}
	if len(r.mistaken) > 0 {
		say("%d texts were taken for exact copies of others: %q", len(r.mistaken), r.mistaken[:min(10, len(r.mistaken))])
	}
	if r.sorry > b.sorry {
		say("%d pages were kept that say that there is no such page, want %d", r.sorry, b.sorry)
	}
	return wrong
}

// A siteTable is the results, a row for each site.
type siteTable struct {
	mu   sync.Mutex
	rows map[string]string // guarded by mu
}

func (s *siteTable) add(site *websites.Site, r *siteResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[string]string{}
	}
	ended := ""
	if r.cut {
		ended = "no end"
	}
	s.rows[site.Name] = fmt.Sprintf("%s\t%d\t%d\t%.1f %%\t%d\t%.2f\t%d\t%d\t%d\t%d\t%d\t%s", site.Name, r.texts, r.kept, 100*r.share(), r.Fetched, r.fetches(), r.Copies, r.Probes, len(r.Invented), r.sorry, len(r.mistaken), ended)
}

func (s *siteTable) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nsite\ttexts\tfound\tshare\tfetches\ta text\tcopies\tprobes\tinvented\tsorry kept\tmistaken\t")
	for _, site := range websites.All(8) {
		if row := s.rows[site.Name]; row != "" {
			fmt.Fprintln(w, row)
		}
	}
	_ = w.Flush()
	return b.String()
}
