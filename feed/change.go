package feed

import (
	"time"

	"skink/dedup"
	"skink/store"
)

// # Changes
//
// A feed that continues after a revisit marks each line: "change" is new, changed or gone. Lines
// for new and changed pages are complete. Lines for gone pages have only the fields that still
// apply. A program that applies the lines by id, in order, to its earlier copy of the feed ends up
// with the content of a new feed.
//
// In a feed of unique pages, a page is also gone when it has become a duplicate. A page is also new
// when it has become unique because its leader is gone. A feed may report as gone a page that its
// reader never saw, if the page appeared and disappeared after the reader's last request. No change
// is ever left out.

// was reports whether a feed with choice c contained a page in the earlier state v.
func (c choice) was(v *store.Visit) bool {
	if v.Words < c.MinWords || c.NoThin && v.Verdict == dedup.Thin {
		return false
	}
	if c.Include == All {
		return v.Verdict != ""
	}
	return v.Fed()
}

// changeOf returns how the last commit of r changed the page in a feed with choice c: new, changed
// or gone. If since is not zero, all commits after since count as one change. It returns "" if the
// page neither is nor was in the feed.
func (c choice) changeOf(r *store.Record, since time.Time) store.ChangeKind {
	if !c.holds(r) {
		for i := range r.Earlier {
			if c.was(&r.Earlier[i]) {
				return store.Gone
			}
		}
		if forgets(r) {
			return store.Gone
		}
		return ""
	}
	if c.held(r, since) {
		return store.Changed
	}
	return store.New
}

// held reports whether a feed with choice c contained the page before its last commit, or, if since
// is not zero, at the time since.
func (c choice) held(r *store.Record, since time.Time) bool {
	if len(r.Earlier) == 0 {
		return c.Include == All && !r.JudgedAt.IsZero() && !r.FetchedAt.After(since)
	}
	if since.IsZero() {
		return c.was(&r.Earlier[0])
	}
	for i := range r.Earlier {
		if v := &r.Earlier[i]; !v.At.After(since) {
			return c.was(v)
		}
	}
	return forgets(r)
}

// forgets reports whether a record may no longer keep the oldest states of its page. Then it must be
// assumed that a feed contained the page.
func forgets(r *store.Record) bool { return len(r.Earlier) == store.MaxVisits }

// documentOfChange returns the document for a change of a page in a feed with choice c, or nil if
// kind is "".
func (c choice) documentOfChange(page *store.Content, kind store.ChangeKind) (*Document, error) {
	switch kind {
	case "":
		return nil, nil
	case store.Gone:
		d := c.goneDocument(&page.Record)
		return &d, nil
	}
	return wholeDocument(page, kind)
}

// goneDocument returns the document of a page that left the feed. It always has the id, by which a
// reader deletes the page. The URL of a private page may be a secret, so it is left out. Nothing
// else is written of a page that c excludes because it is private or because of its content signals.
func (c choice) goneDocument(r *store.Record) Document {
	d := documentOf(r)
	switch {
	case r.Private && !c.Private:
		d = Document{ID: r.ID}
	case c.barred(r.Signals):
		d = Document{ID: r.ID, URL: r.URL}
	case r.Kind != store.Page:
		d.Verdict, d.Hash, d.Words = "", dedup.Hash{}, 0
	}
	d.Change = store.Gone
	return d
}

// appendLive appends to dst the line of a live feed for a page's last commit. The line of a first
// visit has no field "change", so the live feed of a first crawl equals an export.
func appendLive(dst []byte, page *store.Content) ([]byte, error) {
	r := &page.Record
	kind := choice{}.changeOf(r, time.Time{})
	d, err := choice{}.documentOfChange(page, kind)
	if err != nil || d == nil {
		return dst, err
	}
	if kind != store.Gone && len(r.Earlier) == 0 {
		d.Change = ""
	}
	return appendLine(dst, d)
}
