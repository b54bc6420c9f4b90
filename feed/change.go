package feed

import (
	"time"

	"skink/dedup"
	"skink/store"
)

// # Changes
//
// A feed that goes on after a crawl came back says of each line what it is: "change" is new,
// changed or gone. New and changed lines are whole, those of pages that are gone hold what
// there is to say of them. Whoever applies them by id, in their order, to what he had, has
// what the feed would be if it were written anew.
//
// A page is gone from a feed of unique pages also when it became a duplicate, and is new in
// it when its leader went. What is gone may be told once more than is needed, to somebody
// who never had the page: it came and went since he last asked. Nothing is told too seldom.

// was says whether a feed held what a page was before.
func (c choice) was(v *store.Visit) bool {
	if v.Words < c.MinWords || c.NoThin && v.Verdict == dedup.Thin {
		return false
	}
	if c.Include == All {
		return v.Verdict != ""
	}
	return v.Fed()
}

// changeOf is what became of a page in a feed by its last commit, or since a time if that is
// not zero; "" if the page is and was none of the feed's.
func (c choice) changeOf(r *store.Record, since time.Time) store.ChangeKind {
	if !c.holds(r) {
		for i := range r.Earlier {
			if c.was(&r.Earlier[i]) {
				return store.Gone
			}
		}
		return ""
	}
	if c.held(r, since) {
		return store.Changed
	}
	return store.New
}

// held says whether a feed held a page before its last commit, or at a time.
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
	return len(r.Earlier) == store.MostVisits // what it was then is forgotten
}

// documentOfChange is what is said of a page's change; nil: nothing.
func documentOfChange(page *store.Content, kind store.ChangeKind) (*Document, error) {
	switch kind {
	case "":
		return nil, nil
	case store.Gone:
		d := documentOf(&page.Record)
		d.Change = store.Gone
		if page.Record.Kind != store.Page {
			d.Verdict, d.Hash, d.Words = "", dedup.Hash{}, 0
		}
		return &d, nil
	}
	return wholeDocument(page, kind)
}

// appendLive appends what a live feed has of a page's last commit. The first visit of a page
// says nothing of a change, so that the feed of a first crawl is what an export would be.
func appendLive(dst []byte, page *store.Content) ([]byte, error) {
	r := &page.Record
	kind := choice{}.changeOf(r, time.Time{})
	d, err := documentOfChange(page, kind)
	if err != nil || d == nil {
		return dst, err
	}
	if kind != store.Gone && len(r.Earlier) == 0 {
		d.Change = ""
	}
	return appendLine(dst, d)
}
