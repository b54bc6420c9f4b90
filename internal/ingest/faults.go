package ingest

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"

	"skink/crawler"
	"skink/extract"
	"skink/extract/markup"
	"skink/frontier"
)

func (got *reading) faults(doc *extract.Document, page *crawler.Page) {
	facts, url, header := &doc.Markup, got.seen.URL, page.Header
	secure := strings.HasPrefix(url, "https://")
	if secure {
		facts.Drop(markup.Password)
	} else {
		facts.Drop(markup.InsecureFile, markup.InsecureForm)
	}
	if strings.Contains(strings.ToLower(facts.Policy+header.Get("Content-Security-Policy")), "upgrade-insecure-requests") {
		facts.Drop(markup.InsecureFile)
	}
	if markup.OnThisMachine(frontier.HostOf(url)) {
		facts.Drop(markup.LinkLocal)
	}
	isFolder := strings.HasSuffix(frontier.HostOf(url), ".localhost") // skink itself serves the pages of a folder from such a host
	if got.seen.Status != 0 && strings.Contains(strings.ToLower(header.Get("Content-Type")), "html") && !isFolder {
		headerFaults(&facts.Faults, facts, header, secure, len(page.Body))
	}
	r := &got.seen
	switch {
	case doc.MediaType == "text/html" && strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "text/plain") && !isFolder:
		*facts = markup.Facts{Faults: 1 << markup.SentAsText} // browsers show the source
	case r.OtherLang:
		facts.Faults.Add(markup.OtherLanguage)
		facts.Shown = append(facts.Shown, fmt.Sprintf("%d lang=%s, but the text is in %s", markup.OtherLanguage, doc.DeclaredLang, r.Lang))
	}
	r.Faults, r.Faulty = uint64(facts.Faults), facts.Shown
	if facts.Anchors != nil {
		r.Anchors = make([]byte, 0, 2*len(facts.Anchors))
		for _, a := range facts.Anchors {
			r.Anchors = binary.BigEndian.AppendUint16(r.Anchors, a)
		}
	}
}

// smallBody is the maximum size in bytes of a response that fits into one packet. Compressing such
// a response saves no time.
const smallBody = 1400

func headerFaults(all *markup.Set, facts *markup.Facts, header http.Header, secure bool, size int) {
	policy := strings.ToLower(strings.Join(header.Values("Content-Security-Policy"), ";"))
	control := strings.ToLower(strings.Join(header.Values("Cache-Control"), ","))
	has := func(name string) bool { return strings.TrimSpace(header.Get(name)) != "" }
	for _, c := range []struct {
		fault markup.Fault
		is    bool
	}{
		{markup.NoHSTS, secure && !has("Strict-Transport-Security")},
		{markup.NoCSP, policy == "" && facts.Policy == ""},
		{markup.NoSniff, !strings.Contains(strings.ToLower(header.Get("X-Content-Type-Options")), "nosniff")},
		{markup.NoReferrerPolicy, !has("Referrer-Policy") && !facts.Referrer},
		{markup.Reload, has("Refresh")},
		{markup.NoFraming, !has("X-Frame-Options") && !strings.Contains(policy, "frame-ancestors")},
		{markup.Uncompressed, size > smallBody && !has("Content-Encoding")},
		{markup.Uncacheable, strings.Contains(control, "no-store") ||
			!has("ETag") && !has("Last-Modified") && !has("Expires") && !strings.Contains(control, "max-age")},
	} {
		if c.is {
			all.Add(c.fault)
		}
	}
}
