package report

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"skink/dedup"
	"skink/internal/harmless"
	"skink/store"
)

// A Changed is a page whose text differs from its text at an earlier visit, or a page that is gone.
// It describes the last such change.
type Changed struct {
	URL         string    `json:"url"`
	Title       string    `json:"title,omitempty"`
	Resemblance float64   `json:"resemblance"`       // of the text after the last change to the text before it, 0 to 1, computed exactly
	At          time.Time `json:"at"`                // time of the visit that found the change
	Before      time.Time `json:"before"`            // time of the last visit that found the text from before the change
	Changes     int       `json:"changes,omitempty"` // how many changes of the text the record remembers, at least 1
	Added       string    `json:"added,omitempty"`   // some of the text that the change added
	Removed     string    `json:"removed,omitempty"` // some of the text that the change removed
	Problem     string    `json:"problem,omitempty"` // for a page that is gone: the error, or where its URL redirects to now
}

// Changes lists how the pages of a store changed between visits.
type Changes struct {
	Changed []Changed `json:"changed"` // pages that are gone, the latest first
	Gone    []Changed `json:"gone"`    // the latest first

	Restless []Restless `json:"restless,omitempty"`   // passages that change at every visit, and are ignored when texts are compared
	Round    *Round     `json:"last_round,omitempty"` // changes since the last round began; nil: the crawl has visited each page only once
}

// A Round counts the changes found since the crawl last began to visit its known pages again.
type Round struct {
	Began   time.Time `json:"began"`
	Changed int       `json:"changed"`
	Gone    int       `json:"gone"`
}

// A Restless is a passage of a page whose text differs at every visit, such as a clock.
type Restless struct {
	URL    string `json:"url"`
	Text   string `json:"text"`   // some of the passage's text at the last visit
	Visits int    `json:"visits"` // how many visits in a row found the passage changed
}

// ReadChanges reads from s which pages changed. It holds the whole list in memory.
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
		for _, passage := range r.Restless {
			if r.Visit == store.Same && passage.Visits > 0 {
				all.Restless = append(all.Restless, Restless{r.URL, passage.Text, passage.Visits})
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
		return cmp.Or(cmp.Compare(a.Resemblance, b.Resemblance), b.At.Compare(a.At), cmp.Compare(a.URL, b.URL))
	})
	slices.SortStableFunc(all.Gone, func(a, b Changed) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.URL, b.URL)) })
	return all, nil
}

// changeOf returns the last change of the text of r's page. ok is false if the text never changed.
func changeOf(r *store.Record) (c Changed, ok bool) {
	c = Changed{URL: r.URL, Title: r.Title, Added: r.Added, Removed: r.Removed, At: r.FetchedAt}
	if r.Kind != store.Page {
		c.Problem = r.Problem
		if r.Location != "" {
			c.Problem = "redirects to " + r.Location
		}
	}
	hash := r.Hash
	for i, v := range r.Earlier {
		if r.Kind == store.Page && v.Hash == hash || v.Verdict == "" {
			continue
		}
		if c.Changes++; c.Changes == 1 {
			c.Resemblance, c.Before = v.Resemblance, v.Fetched()
			if i > 0 {
				c.At = r.Earlier[i-1].Fetched()
			}
		}
		hash = v.Hash
	}
	return c, c.Changes > 0
}

// WriteChanges writes all to w as text or as JSON.
func WriteChanges(w io.Writer, all Changes, format Format) error {
	switch format {
	case JSON:
		enc := json.NewEncoder(harmless.JSON(w))
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	case Text:
		out := bufio.NewWriter(w)
		all.print(out)
		return out.Flush()
	}
	return fmt.Errorf("changes are written as text or json, not as %s", format)
}

func (all *Changes) print(out io.Writer) {
	fmt.Fprintf(out, "%s changed, %s gone\n", Grouped(len(all.Changed)), Grouped(len(all.Gone)))
	if r := all.Round; r != nil && (r.Changed < len(all.Changed) || r.Gone < len(all.Gone)) {
		fmt.Fprintf(out, "of them by the last round, since %s: %s changed, %s gone\n", r.Began.UTC().Format(time.RFC3339), Grouped(r.Changed), Grouped(r.Gone))
	}
	for i := range all.Changed {
		all.Changed[i].print(out)
	}
	for _, c := range all.Gone {
		fmt.Fprintf(out, "\ngone  %s\n  %s, found %s\n", harmless.Line(c.URL), harmless.Line(c.Problem), c.At.UTC().Format(time.RFC3339))
	}
	for _, r := range all.Restless {
		fmt.Fprintf(out, "\nignored  %s\n  changed at each of the last %s: %s\n", harmless.Line(r.URL), Counted(r.Visits, "visit"), harmless.Line(r.Text))
	}
}

func (c *Changed) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s the same  %s\n", dedup.Percent(math.Floor(c.Resemblance*1e4)/1e4), harmless.Line(c.URL))
	fmt.Fprintf(out, "  found %s, before %s\n", c.At.UTC().Format(time.RFC3339), c.Before.UTC().Format(time.RFC3339))
	for _, part := range []struct{ sign, text string }{{"-", c.Removed}, {"+", c.Added}} {
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(out, "  %s %s\n", part.sign, harmless.Line(strings.TrimSpace(line)))
		}
	}
}
