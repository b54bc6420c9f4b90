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

// bounds are the limits for a crawl of a generated site.
type bounds struct {
	found   float64 // minimum share of the site's texts that must be found, 0 to 1
	fetches float64 // largest number of fetches for each of these texts; 0 means any number up to tooMany
	probes  int     // largest number of probes: fetched URLs to which no page links, the first of each form of URLs
	made    int     // largest number of other fetched URLs to which no page links
	sorry   int     // largest number of stored pages that are error pages with status 200
	endless bool    // the crawl need not end
}

var (
	// recall is for sites whose URLs look like copies, or as if there were endlessly many, but have
	// texts of their own.
	recall = bounds{found: .995, probes: 8}
	// economy is for sites on which each page has many views.
	economy = bounds{found: 1, fetches: 3, probes: 8}
	// manyFolders is for sites with pages in many folders, so that more URL patterns need a probe.
	manyFolders = bounds{found: 1, fetches: 3, probes: 20}
	// trapped is for sites with endlessly many URLs.
	trapped = bounds{found: 1, fetches: 6, probes: 8}
)

// siteBounds contains the bounds for each site: the goal (wanted), and the bounds that hold today.
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
	"dokuwiki":       {economy, bounds{found: 1, fetches: 3, probes: 8, sorry: 3}}, // views of missing topics; each pattern has too few of them for a probe
	"wordpress":      {economy, economy},
	"autoindex":      {economy, economy},
	"redmine":        {economy, economy},
	// Diffs and raw files are separate texts with similar URLs, so there are 2 fetches for each text.
	// Files of a folder are postponed only after many copies of that folder in a row.
	"cgit": {manyFolders, bounds{found: 1, fetches: 6, probes: 20}},
	// All 61 texts come before the first copy, so only a series of 30 copies is evidence. Each fetched
	// page has new URLs. With 241 texts there are 2.3 fetches for each text.
	"sessions":      {economy, bounds{found: 1, fetches: 4, probes: 8}},
	"calendar":      {trapped, trapped},
	"growing paths": {trapped, trapped},
}

// TestSites crawls generated sites with the default options. It compares the found texts and the
// number of requests with the known content of the sites, and prints one row for each site.
//
// A text is found if its page is in the store and is not an error. A URL to which no page links is
// invented. The first invented URL of each form is a probe, which tests how the site answers for
// missing pages.
func TestSites(t *testing.T) {
	t.Parallel()
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

// TestSitesInterrupted crawls the same sites, but interrupts each crawl three times, twice by a
// kill. Then the crawls continue until they end.
//
// SKINK_LONG=short has every other site, with 120 pages, and SKINK_LONG=full has all, with 480.
func TestSitesInterrupted(t *testing.T) {
	t.Parallel()
	const again = 20 // number of fetches and probes that interrupted runs may repeat
	size := 120
	if long(t) == full {
		size = 480
	}
	skink := buildSkink(t)
	rows := &siteTable{}
	t.Cleanup(func() { t.Log(rows) })
	for n, site := range websites.All(size) {
		if n%2 == 1 && size < 480 {
			continue
		}
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

// A siteCrawl is a crawl of one site into a new store.
type siteCrawl struct {
	site   *websites.Site
	server *websites.Server
	store  string
	seed   string
	cut    bool // the crawl was ended because it made too many requests
}

// tooMany is the number of fetches for each text after which a crawl is ended.
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

// run crawls until the crawl ends, or makes too many requests.
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

// interrupt crawls in a separate process, and sends it a signal when the server has received the
// given number of requests in total. The result ended reports whether the crawl ended before that.
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
		_ = cmd.Process.Signal(signal) // ignore an error, because the process may just have ended
		return <-exit == nil
	}
}

// A siteResult is the result of a crawl, together with its cost.
type siteResult struct {
	websites.Tally
	site    string
	texts   int      // number of the site's texts
	kept    int      // number of these texts that are in the store
	missing []string // the texts that are not in the store
	// mistaken lists pages with texts of their own that were judged to be copies.
	mistaken []string
	sorry    int  // number of pages in the store that are error pages with status 200
	cut      bool // the crawl was ended because of tooMany
}

func (r *siteResult) share() float64   { return float64(r.kept) / float64(r.texts) }
func (r *siteResult) fetches() float64 { return float64(r.Fetched) / float64(r.texts) }

// result combines the statistics of the server with the content of the store.
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

// check compares a result with the bounds that hold today, and logs the difference to the goal.
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

// broken describes the bounds that a result violates.
func (b bounds) broken(r *siteResult) (wrong []string) {
	say := func(form string, args ...any) { wrong = append(wrong, fmt.Sprintf(form, args...)) }
	if r.share() < b.found {
		say("%d of %d texts were found, want %.1f%%; missing %q", r.kept, r.texts, 100*b.found, r.missing[:min(10, len(r.missing))])
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

// A siteTable collects the results, one row for each site.
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
	s.rows[site.Name] = fmt.Sprintf("%s\t%d\t%d\t%.1f%%\t%d\t%.2f\t%d\t%d\t%d\t%d\t%d\t%s", site.Name, r.texts, r.kept, 100*r.share(), r.Fetched, r.fetches(), r.Copies, r.Probes, len(r.Invented), r.sorry, len(r.mistaken), ended)
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
