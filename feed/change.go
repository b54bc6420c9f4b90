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
func (in Include) was(v *store.Visit) bool {
	if in == All {
		return v.Verdict != ""
	}
	return v.Fed()
}

// changeOf is what became of a page in a feed by its last commit, or since a time if that is
// not zero; "" if the page is and was none of the feed's.
func (in Include) changeOf(r *store.Record, since time.Time) store.ChangeKind {
	if !in.holds(r) {
		for i := range r.Earlier {
			if in.was(&r.Earlier[i]) {
				return store.Gone
			}
		}
		return ""
	}
	if in.held(r, since) {
		return store.Changed
	}
	return store.New
}

// held says whether a feed held a page before its last commit, or at a time.
func (in Include) held(r *store.Record, since time.Time) bool {
	if len(r.Earlier) == 0 {
		return in == All && !r.JudgedAt.IsZero() && !r.FetchedAt.After(since)
	}
	if since.IsZero() {
		return in.was(&r.Earlier[0])
	}
	for i := range r.Earlier {
		if v := &r.Earlier[i]; !v.At.After(since) {
			return in.was(v)
		}
	}
	return len(r.Earlier) == store.MostVisits // what it was then is forgotten
}

// appendGone appends the line of a page that is not in the feed any more.
func appendGone(dst []byte, r *store.Record) ([]byte, error) {
	l := lineOf(r)
	l.Change = store.Gone
	if r.Kind != store.Page {
		l.Verdict, l.Hash, l.Words = "", dedup.Hash{}, 0
	}
	return appendLine(dst, &l)
}

// appendChange appends the line of a page that is new or changed, and says so unless it never
// was anything else.
func appendChange(dst []byte, page *store.Content, kind store.ChangeKind) ([]byte, error) {
	if err := whole(page); err != nil {
		return dst, err
	}
	l := lineOf(&page.Record)
	l.Text, l.Change = page.Text, kind
	return appendLine(dst, &l)
}

// appendLive appends what a live feed has of a page's last commit. The first visit of a page
// says nothing of a change, so that the feed of a first crawl is what an export would be.
func appendLive(dst []byte, page *store.Content) ([]byte, error) {
	r := &page.Record
	switch kind := Unique.changeOf(r, time.Time{}); {
	case kind == "":
		return dst, nil
	case kind == store.Gone:
		return appendGone(dst, r)
	case len(r.Earlier) == 0:
		return appendPage(dst, page)
	default:
		return appendChange(dst, page, kind)
	}
}
