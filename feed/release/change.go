package release

import (
	"slices"
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

// was reports whether the filter selected a page in the earlier state v.
func (f *Filter) was(v *store.Visit) bool {
	if v.Words < f.MinWords || f.NoThin && v.Verdict == dedup.Thin {
		return false
	}
	if f.Include == All {
		return v.Verdict != ""
	}
	return v.Fed()
}

// changeOf returns how the last commit of r changed the page in a feed: new, changed or gone. holds
// says whether the feed contains the page now. All commits after f.Since, if it is not zero, count
// as one change. changeOf returns "" if the page neither is nor was in the feed.
func (f *Filter) changeOf(r *store.Record, holds bool) store.ChangeKind {
	switch {
	case !holds && f.everHeld(r):
		return store.Gone
	case !holds:
		return ""
	case f.held(r, f.Since):
		return store.Changed
	}
	return store.New
}

func (f *Filter) everHeld(r *store.Record) bool {
	return forgets(r) || slices.ContainsFunc(r.Earlier, func(v store.Visit) bool { return f.was(&v) })
}

// held reports whether a feed contained the page before its last commit, or, if since is not zero,
// at the time since.
func (f *Filter) held(r *store.Record, since time.Time) bool {
	if len(r.Earlier) == 0 {
		return f.Include == All && !r.JudgedAt.IsZero() && !r.FetchedAt.After(since)
	}
	if since.IsZero() {
		return f.was(&r.Earlier[0])
	}
	if i := slices.IndexFunc(r.Earlier, func(v store.Visit) bool { return !v.At.After(since) }); i >= 0 {
		return f.was(&r.Earlier[i])
	}
	return forgets(r)
}

// forgets reports whether a record may no longer keep the oldest states of its page. Then it must be
// assumed that a feed contained the page.
func forgets(r *store.Record) bool { return len(r.Earlier) == store.MaxVisits }

// remains returns what may be told of a page that left the feed. It always has the id, by which a
// reader deletes the page. The URL of a private page may be a secret, so it is left out. Nothing
// else is told of a page that the filter leaves out because it is private or because of its content
// signals.
func (f *Filter) remains(r *store.Record) store.Record {
	switch {
	case r.Private && !f.Private:
		return store.Record{ID: r.ID}
	case f.barred(r.Signals):
		return store.Record{ID: r.ID, URL: r.URL}
	}
	told := *r
	if r.Kind != store.Page {
		told.Verdict, told.Hash, told.Words = "", dedup.Hash{}, 0
	}
	return told
}
