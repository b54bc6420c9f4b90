// Package release is the gate through which pages leave a store. Exports and feeds write a [Page],
// and only a [Gate] makes one. So no output can leave out the check, and each output can say what
// was left out and why.
package release

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"skink/base/segment"
	"skink/dedup"
	"skink/store"
)

// Include selects the pages of an output by their verdicts.
type Include string

const (
	Unique  Include = "unique"  // unique and thin pages without noindex: those that belong in a search index
	All     Include = "all"     // every page with a verdict, including noindex pages
	Records Include = "records" // every record, also those of redirects and errors
)

// A Filter selects the pages that an output contains. The zero value selects all unique and thin
// pages that are not private.
type Filter struct {
	Include  Include // default: Unique
	MinWords int     // pages with fewer words are left out
	NoThin   bool    // whether pages with the verdict thin are left out

	NoSignals []string // pages are left out if their host's robots.txt states any of these content signals, such as "ai-train=no"

	Private bool // whether to include pages that were requested with the user's password, cookies or headers

	Segments segment.Choice // pages outside the chosen segment are left out, and their changes too

	Changes bool      // whether pages have a change, and pages that are gone are included with what remains of them
	Since   time.Time // only changes after this time are included; the zero value means all changes
}

// A Reason says why a page was left out.
type Reason string

const (
	Outside   Reason = "outside the segment"
	Private   Reason = "private"
	Signal    Reason = "with an excluded content signal"
	NoIndex   Reason = "with noindex"
	Duplicate Reason = "with the verdict exact or near"
	Thin      Reason = "with the verdict thin"
	Short     Reason = "with too few words"

	notPage Reason = "not a page"
)

// Reasons lists all reasons, in the order in which they are checked. A page is counted once, for
// its first reason.
var Reasons = []Reason{Outside, Private, Signal, NoIndex, Duplicate, Thin, Short}

// why returns the reason for which the filter leaves out a page in its present state, or "".
func (f *Filter) why(r *store.Record) Reason {
	switch {
	case f.Include != Records && r.Kind != store.Page:
		return notPage
	case !f.Segments.Has(r.URL):
		return Outside
	case r.Private && !f.Private:
		return Private
	case f.barred(r.Signals):
		return Signal
	case f.Include == Records:
		return ""
	case f.Include != All && r.NoIndex:
		return NoIndex
	case f.Include != All && !r.Fed():
		return Duplicate
	case f.NoThin && r.Verdict == dedup.Thin:
		return Thin
	case r.Words < f.MinWords:
		return Short
	}
	return ""
}

// barred reports whether the content signals of a page, separated by ", ", contain any of
// f.NoSignals.
func (f *Filter) barred(signals string) bool {
	return signals != "" && slices.ContainsFunc(strings.Split(signals, ", "), func(s string) bool { return slices.Contains(f.NoSignals, s) })
}

// A Page is a page that may leave its store. A page that is gone has only
// the fields that may leave the store.
type Page struct {
	content *store.Content
	change  store.ChangeKind
}

func (p *Page) Content() *store.Content { return p.content }

// Change returns how the page changed: new, changed or gone. It returns "" unless the filter asks
// for changes.
func (p *Page) Change() store.ChangeKind { return p.change }

// A Left counts the pages that were left out, by reason.
type Left map[Reason]int

// String returns a line for users, or "" if no page was left out.
func (l Left) String() string {
	var parts []string
	sum := 0
	for _, why := range Reasons {
		if n := l[why]; n > 0 {
			sum += n
			parts = append(parts, fmt.Sprintf("%d %s", n, why))
		}
	}
	switch sum {
	case 0:
		return ""
	case 1:
		return "left out 1 page: " + parts[0]
	}
	return fmt.Sprintf("left out %d pages: %s", sum, strings.Join(parts, ", "))
}

// A Gate reads the pages that may leave a store.
type Gate struct {
	Filter
	Left Left         // counts the pages that are left out; nil means that nothing is counted
	At   store.Cursor // position in the store's changes after the last page that was read and used

	Withheld func(id dedup.Hash) // called for each record that was left out; may be nil

	hidden map[dedup.Hash]bool // whether records are private, by id
}

// Pages yields the pages of s after g.At that the filter selects, in the order in which they were
// judged. It moves g.At past a page when the next one is asked for.
func (g *Gate) Pages(ctx context.Context, s store.Reader, want store.Want) iter.Seq2[*Page, error] {
	return store.Sequence(func(yield func(*Page) error) error {
		return store.Forward(s.Changes(ctx, g.At, want), func(c *store.Change) error {
			p, err := g.page(ctx, s, &c.Content)
			if err = cmp.Or(err, ctx.Err()); err == nil && p != nil {
				err = yield(p)
			}
			if err == nil {
				g.At = c.Cursor
			}
			return err
		})
	})
}

// Page returns the page of s with the given id, or nil if the store does not have it, or the filter leaves it out.
func (g *Gate) Page(ctx context.Context, s store.Reader, id dedup.Hash, want store.Want) (*Page, error) {
	found, err := s.Pages(ctx, []dedup.Hash{id}, want)
	if err != nil || found[0] == nil {
		return nil, err
	}
	return g.page(ctx, s, found[0])
}

func (g *Gate) page(ctx context.Context, s store.Reader, c *store.Content) (*Page, error) {
	p := g.pass(c)
	if p == nil {
		return nil, nil
	}
	return p, g.hide(ctx, s, &p.content.Record)
}

func (g *Gate) pass(c *store.Content) *Page {
	r := &c.Record
	if g.Changes && !g.Since.IsZero() && !r.Began().After(g.Since) {
		return nil
	}
	why := g.why(r)
	var kind store.ChangeKind
	if g.Changes && g.Segments.Has(r.URL) {
		kind = g.changeOf(r, why == "")
	}
	switch {
	case kind == store.Gone:
		return &Page{&store.Content{Record: g.remains(r)}, kind}
	case why == "":
		return &Page{c, kind}
	case g.Left != nil && r.Kind == store.Page:
		g.Left[why]++
	}
	if g.Withheld != nil {
		g.Withheld(r.ID)
	}
	return nil
}

// hide removes from r what names a private page: the leader, and the redirect that led to the page.
func (g *Gate) hide(ctx context.Context, s store.Reader, r *store.Record) error {
	if g.Private {
		return nil
	}
	leader, err := g.isHidden(ctx, s, r.DuplicateOf, r.Leader)
	if leader {
		r.DuplicateOf, r.Leader = "", dedup.Hash{}
	}
	via, viaErr := g.isHidden(ctx, s, r.Via, dedup.HashOf([]byte(r.Via)))
	if via {
		r.Via = ""
	}
	return cmp.Or(err, viaErr)
}

// maxHidden is the number of entries in the map Gate.hidden.
const maxHidden = 1 << 16

// isHidden reports whether a URL must not be told. Outputs of all records do not use it, so it does
// not ask the store for them.
func (g *Gate) isHidden(ctx context.Context, s store.Reader, url string, id dedup.Hash) (bool, error) {
	if hidden, known := g.hidden[id]; known || url == "" || g.Include == Records {
		return hidden || g.Include == Records, nil
	}
	found, err := s.Pages(ctx, []dedup.Hash{id}, store.WantRecord)
	if err != nil {
		return true, err
	}
	if g.hidden == nil || len(g.hidden) >= maxHidden {
		g.hidden = map[dedup.Hash]bool{}
	}
	g.hidden[id] = found[0] != nil && found[0].Record.Private
	return g.hidden[id], nil
}
