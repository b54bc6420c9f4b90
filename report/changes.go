package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"skink/store"
)

// A Changed is a page whose text has changed between two visits, or that no longer exists.
type Changed struct {
	URL         string    `json:"url"`
	Private     bool      `json:"private,omitempty"` // see [store.Record.Private]
	Title       string    `json:"title,omitempty"`
	Resemblance float64   `json:"resemblance"`        // exact resemblance of the last two texts, 0 to 1; 0 if Returned
	At          time.Time `json:"at"`                 // time of the visit that found the change
	Before      time.Time `json:"before"`             // time of the visit that found the previous text
	Changes     int       `json:"changes,omitempty"`  // number of changes to the text in the stored history
	Added       string    `json:"added,omitempty"`    // excerpt of the added text
	Removed     string    `json:"removed,omitempty"`  // excerpt of the removed text
	Problem     string    `json:"problem,omitempty"`  // reason why the page is gone, such as "status 404" or "redirects to" a URL
	Returned    bool      `json:"returned,omitempty"` // whether the page was missing between the last two texts, so their resemblance is unknown
}

// Changes lists the changes to the pages of a store between visits.
type Changes struct {
	Changed []Changed `json:"changed"` // pages whose text has changed, largest change first, and then those that were missing in between
	Gone    []Changed `json:"gone"`    // pages that no longer exist, latest first

	Restless []Restless `json:"restless,omitempty"`   // lines that change with every visit and so are not counted as changes
	Round    *Round     `json:"last_round,omitempty"` // the last round of visits; nil if the crawl never revisited its pages
}

// A Round counts the changes that the last round of visits found.
type Round struct {
	Began   time.Time `json:"began"`
	Changed int       `json:"changed"`
	Gone    int       `json:"gone"`
}

// A Restless is a line of a page that changes with every visit, such as a date.
type Restless struct {
	URL     string `json:"url"`
	Private bool   `json:"private,omitempty"` // see [store.Record.Private]
	Text    string `json:"text"`              // excerpt of the line, as found by the last visit
	Visits  int    `json:"visits"`            // number of successive visits that found the line changed
}

// ReadChanges reads all records of a store and returns the changes. All changes are kept in memory.
func ReadChanges(ctx context.Context, s store.Reader) (all Changes, err error) {
	all = Changes{Changed: []Changed{}, Gone: []Changed{}}
	began, err := store.LastRound(ctx, s)
	if err != nil {
		return all, err
	}
	if !began.IsZero() {
		all.Round = &Round{Began: began}
	}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return all, fmt.Errorf("read changes: %w", err)
		}
		r := &page.Record
		for _, line := range r.Restless {
			if r.Visit == store.Same && line.Visits > 0 {
				all.Restless = append(all.Restless, Restless{r.URL, r.Private, line.Text, line.Visits})
			}
		}
		c, ok := changeOf(r)
		latest := all.Round != nil && !c.At.Before(began)
		switch {
		case !ok:
		case r.Kind == store.Page:
			if all.Changed = append(all.Changed, c); latest {
				all.Round.Changed++
			}
		default:
			if all.Gone = append(all.Gone, c); latest {
				all.Round.Gone++
			}
		}
	}
	slices.SortStableFunc(all.Changed, func(a, b Changed) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), b.At.Compare(a.At), cmp.Compare(a.URL, b.URL))
	})
	slices.SortStableFunc(all.Gone, func(a, b Changed) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.URL, b.URL)) })
	return all, nil
}

// The result ok is false if the page has neither changed nor disappeared.
func changeOf(r *store.Record) (c Changed, ok bool) {
	c = Changed{URL: r.URL, Private: r.Private, Title: r.Title, Added: r.Added, Removed: r.Removed, At: r.FetchedAt}
	if r.Kind != store.Page {
		c.Problem = whyGone(r)
	}
	hash := r.Hash
	missing := false // whether the page was missing between v and the next text
	for _, v := range r.Earlier {
		switch page := r.Kind == store.Page; {
		case v.Verdict == "":
			if missing = true; !page && c.Changes == 0 {
				c.At = v.Fetched()
			}
		case page && v.Hash == hash:
			if missing = false; c.Changes == 0 {
				c.At = v.Fetched()
			}
		default:
			if c.Changes++; c.Changes == 1 {
				c.Before, c.Resemblance, c.Returned = v.Fetched(), v.Resemblance, page && missing
			}
			hash = v.Hash
		}
	}
	return c, c.Changes > 0
}

// whyGone returns what a visit found instead of a page.
func whyGone(r *store.Record) string {
	switch {
	case r.Location != "":
		return "redirects to " + r.Location
	case r.Kind == store.Sitemap:
		return "the URL now returns a sitemap"
	case r.Kind == store.Other:
		return "the URL now returns a file without text: " + cmp.Or(r.ContentType, "type unknown")
	}
	return cmp.Or(r.Problem, r.Detail, string(r.Kind))
}

// order returns a number by which changes are listed: the resemblance, or more if it is unknown.
func (c *Changed) order() float64 {
	if c.Returned {
		return 2
	}
	return c.Resemblance
}

// WriteChanges writes changes as text or JSON.
func WriteChanges(w io.Writer, all Changes, format Format) error {
	switch format {
	case JSON:
		return WriteJSON(w, all)
	case Text:
		out := bufio.NewWriter(w)
		return cmp.Or(text.ExecuteTemplate(out, "changes", all), out.Flush())
	}
	return fmt.Errorf("changes are written as text or json, not as %s", format)
}
