package ingest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"skink/crawler"
	"skink/extract"
	"skink/extract/markup"
	"skink/frontier"
)

// TestFaults checks which faults a page's record has, given its URL and the header of its answer.
func TestFaults(t *testing.T) {
	found := markup.Set(0)
	for _, f := range []markup.Fault{markup.InsecureFile, markup.InsecureForm, markup.Password, markup.LinkLocal} {
		found.Add(f)
	}
	safe := "Strict-Transport-Security: max-age=1\nContent-Security-Policy: default-src 'self'; frame-ancestors 'none'\n" +
		"X-Content-Type-Options: nosniff\nReferrer-Policy: no-referrer\nContent-Encoding: gzip\nETag: 1"
	for _, c := range []struct {
		name, url, header string
		policy            string // content of a <meta> element
		want              string
	}{
		{"nothing is sent", "https://a.test/", "", "", "links.local security.csp security.form security.framing security.hsts security.mixed security.nosniff security.referrer transfer.uncacheable transfer.uncompressed"},
		{"http", "http://a.test/", "", "", "links.local security.csp security.framing security.nosniff security.password security.referrer transfer.uncacheable transfer.uncompressed"},
		{"all is sent", "https://a.test/", safe, "", "links.local security.form security.mixed"},
		{"old header against frames", "https://a.test/", strings.Replace(safe, "; frame-ancestors 'none'", "\nX-Frame-Options: DENY", 1), "", "links.local security.form security.mixed"},
		{"policy in <meta>", "https://a.test/", strings.Replace(safe, "Content-Security-Policy", "X-Frame-Options", 1), "upgrade-insecure-requests", "links.local security.form"},
		{"not to be stored", "https://a.test/", safe + "\nCache-Control: no-store", "", "links.local security.form security.mixed transfer.uncacheable"},
		{"fresh for a time", "https://a.test/", strings.Replace(safe, "ETag: 1", "Cache-Control: max-age=60", 1), "", "links.local security.form security.mixed"},
		{"this machine", "http://127.0.0.1:80/", safe, "", "security.password"},
		{"a folder", "http://docs.localhost/", "", "", "security.password"},
		{"sent as text", "https://a.test/", "Content-Type: text/plain; charset=utf-8", "", "markup.type"},
		{"a text in a folder", "http://docs.localhost/", "Content-Type: text/plain", "", "security.password"},
	} {
		header := http.Header{"Content-Type": {"text/html"}}
		for line := range strings.Lines(c.header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			header.Set(name, value)
		}
		page := &crawler.Page{Item: frontier.Item{URL: c.url}, Status: 200, Header: header, Body: make([]byte, 2000)}
		got := &reading{seen: recordOf(page)}
		got.faults(&extract.Document{MediaType: "text/html", Markup: markup.Facts{Faults: found, Policy: c.policy}}, page)
		var names []string
		for _, check := range markup.Checks {
			if markup.Set(got.seen.Faults).Has(check.Fault) {
				names = append(names, check.Name)
			}
		}
		slices.Sort(names)
		same(t, c.name, strings.Join(names, " "), c.want)
	}
}
