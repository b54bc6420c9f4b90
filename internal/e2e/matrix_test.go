package e2e

import (
	"fmt"
	"math/bits"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// # Every purpose of a request, under every condition
//
// A promise such as "a secret goes only to its host" must hold for every request, whatever caused
// it. So this file has a table of purposes (rows) and one of conditions (columns). For each
// condition, one crawl of a small web makes requests of all purposes. The web logs each request.
//
// A cell checks that the requests of its purpose were made, or were not made because they were
// excluded. It also checks that each of them has exactly the secrets that it should have. For each
// column, the test checks the time between two requests to a host, by the clock of the server. It
// then searches all files and outputs for secrets, and all outputs for the text of private pages.
//
// With SKINK_LONG=full, each pair of conditions is a column too. matrix_web_test.go has the web,
// and matrix_search_test.go has the search.

// A condition is a set of bits, so that conditions can be combined.
type condition uint

const (
	excluded   condition = 1 << iota // after a first run, --exclude matches the URLs of all purposes
	foreign                          // pages of a host without secrets cause the requests
	downgrade                        // the hosts with secrets have been visited with https, and the requests use http
	redirected                       // the requested URLs redirect to another host, which has its own secrets
	proxied                          // requests go through a proxy with a password
	shared                           // two workers share a store on PostgreSQL
	restarted                        // the crawl is killed with SIGKILL and started again
	allConditions
)

var conditionNames = []string{"excluded", "foreign", "downgrade", "redirected", "proxied", "shared", "restarted"}

// has reports whether c contains one of the conditions.
func (c condition) has(any condition) bool { return c&any != 0 }

func (c condition) String() string {
	var names []string
	for i, name := range conditionNames {
		if c.has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// A purpose is a row of the table.
type purpose struct {
	name    string
	path    string // regular expression for the paths that are requested for this purpose only
	host    string // the host of these paths
	revisit bool   // only requests after the first run count
	browser bool   // a browser causes the requests
	queued  bool   // if excluded is the only condition, the URL is pending when --exclude is set, so it becomes "outside"
	lands   bool   // a redirect to another host is followed
}

// The purposes, in the order of the list. The pages that cause them are in
// matrix_web_test.go.
var purposes = []purpose{
	{name: "seed", path: `^/x/seed$`, host: siteHostName, queued: true, lands: true},
	{name: "link", path: `^/x/link$`, host: siteHostName, queued: true, lands: true},
	{name: "redirect target", path: `^/x/redirect$`, host: siteHostName, lands: true},
	{name: "sitemap", path: `^/x/sitemap\.xml$`, host: siteHostName, lands: true},
	{name: "robots.txt", path: `^/robots\.txt$`, host: quietHostName},
	{name: "requisite", path: `^/x/requisite\.(css|png)$`, host: siteHostName, lands: true},
	{name: "asset check", path: `^/x/asset-\d+\.png$`, host: siteHostName},
	{name: "external check", path: `^/x/external$`, host: farHostName},
	{name: "retry", path: `^/x/retry$`, host: siteHostName, queued: true, lands: true},
	{name: "revisit", path: `^/x/revisit$`, host: siteHostName, revisit: true, lands: true},
	{name: "probe", path: `/item/[a-z]{12}$`, host: siteHostName},
	{name: "login", path: `^/x/login`, host: memberHostName},
	{name: "part", path: `^/x/part\.js$`, host: siteHostName, browser: true, lands: true},
	{name: "script's request", path: `^/x/api$`, host: siteHostName, browser: true, lands: true},
}

// notApplicable names the cells in which the crawl makes no request that could be checked, with the
// reason. The other checks of the column still apply.
var notApplicable = map[string]map[condition]string{
	"asset check":    {redirected: "redirects of checked URLs are not followed, so there is nothing to land on"},
	"external check": {redirected: "redirects of checked URLs are not followed, so there is nothing to land on"},
	"login":          {excluded: "the user named the page of the login, so no pattern applies to it"},
	"probe":          {redirected: "the pages that cause the probe are on the other host"},
}

// TestMatrix runs the table. The delay between two requests is short, because a column makes about
// a hundred requests.
func TestMatrix(t *testing.T) {
	t.Parallel()
	columns := []condition{0}
	for c := excluded; c < allConditions; c <<= 1 {
		columns = append(columns, c)
	}
	if os.Getenv("SKINK_LONG") == "full" {
		for c := range allConditions {
			if bits.OnesCount(uint(c)) == 2 {
				columns = append(columns, c)
			}
		}
	}
	for _, c := range columns {
		name := c.String()
		if name == "" {
			name = "plain"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testColumn(t, c)
		})
	}
}

// testColumn crawls the web under a condition, and checks each cell of the column.
func testColumn(t *testing.T, c condition) {
	w := newMatrixWeb(t, c)
	w.crawl(t)
	for _, p := range purposes {
		t.Run(p.name, func(t *testing.T) {
			if p.browser && !w.browses {
				t.Skip("no browser, or only with SKINK_LONG in this column")
			}
			for cell, reason := range notApplicable[p.name] {
				if c.has(cell) {
					t.Skip(reason)
				}
			}
			checkCell(t, w, p)
		})
	}
	t.Run("secrets", func(t *testing.T) { checkSecrets(t, w) })
	t.Run("gaps", func(t *testing.T) { checkGaps(t, w) })
	t.Run("outputs", func(t *testing.T) { w.search(t) })
}

// checkCell checks that requests of a purpose were made, and reached the page that a redirect leads
// to. If they are excluded, it checks that there were none.
func checkCell(t *testing.T, w *matrixWeb, p purpose) {
	paths := regexp.MustCompile(p.path)
	from := 1
	if p.revisit {
		from = w.round
	}
	if w.set.has(excluded) {
		from = w.exclusion
	}
	early := func(a *ask) bool { return w.set.has(downgrade) && a.scheme == "https" && p.name != "login" } // before the downgrade
	made := w.made(func(a *ask) bool {
		return a.round >= from && a.name == p.host && paths.MatchString(a.path) && !early(a)
	})
	if w.set.has(excluded) {
		for _, a := range made {
			t.Errorf("round %d: %s was requested although it is excluded", a.round, a)
		}
		url := w.at("http", p.host) + strings.Trim(p.path, "^$")
		if outside := string(w.run(t, "status", "--urls", "outside")); p.queued && !w.set.has(downgrade|redirected) && !strings.Contains(outside, url+"\toutside; exclude: ") {
			t.Errorf("status --urls outside does not say that a pattern excludes %s:\n%s", url, outside)
		}
		return
	}
	if len(made) == 0 {
		t.Errorf("no request, want one")
	}
	made = slices.DeleteFunc(made, func(a *ask) bool { return a.method == http.MethodHead }) // redirects of checked URLs are not followed
	if len(made) > 0 && w.set.has(redirected) && p.lands && p.host == siteHostName {
		landed := w.made(func(a *ask) bool {
			return a.round >= from && a.name == otherHostName && a.path == strings.Replace(made[0].path, "/x/", "/landed/", 1)
		})
		if len(landed) == 0 {
			t.Errorf("the other host, to which %s redirects, got no request", made[0])
		}
	}
}

// maybeBare reports whether a request need not carry the secrets of its host: because a request over
// https may be on its way, or because pages of several hosts make the same request.
func (w *matrixWeb) maybeBare(a *ask) bool {
	return w.set.has(downgrade) && a.scheme == "http" || path.Base(a.path) == "api"
}

// secured reports whether the host of a request got a request over https before.
func (w *matrixWeb) secured(a *ask) bool {
	return len(w.made(func(b *ask) bool { return b.name == a.name && b.scheme == "https" && b.at.Before(a.at) })) > 0
}

// A few is a test that reports only its first errors, because one cause usually shows in many places.
type few struct {
	*testing.T
	errors int
}

func (f *few) Errorf(format string, args ...any) {
	f.Helper()
	if f.errors++; f.errors <= 8 {
		f.T.Errorf(format, args...)
	}
}

// checkSecrets checks that each request carried all secrets of its host, or none if it must not, and
// never a secret of another host.
func checkSecrets(t *testing.T, w *matrixWeb) {
	few := &few{T: t}
	for _, a := range w.made(func(*ask) bool { return true }) {
		bare := w.bare(a)
		for _, s := range w.secrets {
			carries := slices.Contains(a.carried, s.name)
			switch {
			case carries && s.owner != a.name:
				few.Errorf("round %d: %s carried %s, which belongs to %s", a.round, a, s.name, s.owner)
			case carries && bare != "":
				few.Errorf("round %d: %s carried %s, although %s", a.round, a, s.name, bare)
			case !carries && bare == "" && s.owner == a.name && s.always && !w.maybeBare(a):
				few.Errorf("round %d: %s did not carry %s", a.round, a, s.name)
			}
		}
	}
}

// bare says why a request must not carry the secrets of its own host. It returns "" if it must.
func (w *matrixWeb) bare(a *ask) string {
	switch {
	case w.set.has(downgrade) && a.scheme == "http" && w.secured(a):
		return "the host has been visited with https"
	case a.page != "" && a.page != a.name:
		return "the page that loads it belongs to another host"
	}
	return ""
}

// lateness returns how long a request may be on its way from the gate of the crawl to the server. On a busy
// machine, the crawl gets no processor for a moment after it has waited, nor does the clock of the kernel. A
// worker may send a request later than the time that it reserved for it, and another worker does not learn that.
func (w *matrixWeb) lateness(a *ask) time.Duration {
	return 2*w.delay/3 + w.stalled(a.at.Add(-2*time.Second), a.at)
}

// around returns the requests to a host near one of them, with their times.
func (w *matrixWeb) around(a *ask) string {
	var b strings.Builder
	for _, o := range w.made(func(o *ask) bool { return o.host == a.host && a.at.Sub(o.at).Abs() < 3*w.delay }) {
		fmt.Fprintf(&b, "%6d ms %s\n", o.at.Sub(a.at).Milliseconds(), o)
	}
	return b.String()
}

// checkGaps checks that the requests to a host can have left the crawl with its delay between them, if each
// was late by no more than lateness. A request that is late makes the gap after it shorter and the gap before
// it longer, so it cannot hide a crawl that is too fast. There is no upper bound, because a busy machine makes
// gaps longer.
func checkGaps(t *testing.T, w *matrixWeb) {
	next, left := map[string]*ask{}, map[string]time.Time{} // by host, the following request, and when it left the crawl at the latest
	smallest, n := time.Hour, 0
	all := w.made(func(*ask) bool { return true })
	slices.SortStableFunc(all, func(a, b *ask) int { return b.at.Compare(a.at) })
	for _, a := range all {
		after := next[a.host]
		next[a.host] = a
		if after == nil {
			left[a.host] = a.at
			continue
		}
		smallest, n = min(smallest, after.at.Sub(a.at)), n+1
		delay := w.delay
		if after.name == slowHostName && !(after.path == "/robots.txt" && after.path == a.path) { // the store knows the Crawl-delay once it has a page
			delay = slowDelay
		}
		latest := left[a.host].Add(-delay)
		if a.at.Before(latest) {
			latest = a.at
		}
		if late := a.at.Sub(latest); late > w.lateness(a) {
			t.Errorf("round %d: %s came %v before %s, the delay is %v, so it must have been late by %v\n%s", a.round, a, after.at.Sub(a.at).Round(time.Millisecond), after, delay, late, w.around(a))
			latest = a.at
		}
		left[a.host] = latest
	}
	t.Logf("%d gaps, the smallest %v", n, smallest.Round(time.Millisecond))
}

func (a *ask) String() string {
	return fmt.Sprintf("%s %s://%s%s", a.method, a.scheme, a.host, a.path)
}
