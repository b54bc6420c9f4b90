package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Revisiting and retrying
//
// When a run begins, it puts the URLs that must be visited again back into the frontier, and sets
// their due time to its own starting time. A URL whose record is older than that has not been
// visited again yet. The store keeps this time and the selection until all of these URLs have been
// visited. If a run is killed, even while putting URLs back, the next run uses them, misses no URL and
// visits none twice. This also holds if the next run selects nothing.

// Again selects URLs to visit again. The zero value selects none.
type Again struct {
	Retry    string           // States as typed by the user; "" means none
	States   []frontier.State // select the URLs in these states
	Recrawl  string           // Due or Age as typed by the user; "" means that neither is set
	Due      bool             // select the URLs whose next visit is due
	Age      time.Duration    // if Due is false, select the URLs whose last visit was at least this long ago; 0 means none
	Schedule Schedule
}

func (a *Again) wanted() bool { return a.Recrawl != "" || len(a.States) > 0 }

// Retried lists the states whose URLs users can choose to visit again.
var Retried = []frontier.State{frontier.Failed, frontier.GivenUp, frontier.Blocked, frontier.Outside}

// A round is one selection of URLs to visit again, with its starting time. The store keeps it until
// all of these URLs have been visited.
type round struct {
	Asked    time.Time `json:"asked"`
	Selector string    `json:"selector,omitempty"` // the worker that selects the URLs of a crawl that stays; "" if all are selected
	Again
}

const (
	roundName  = "round"
	roundOfRun = "the revisits of the last run" // in errors
)

// openRound returns the round of the last run if it has not ended, and this run selects the same URLs.
// If this run selects none, it continues that round, too, and openRound sets a.
func openRound(ctx context.Context, s store.Meta, a *Again) (round, error) {
	last, err := store.ReadMeta[round](ctx, s, roundName, roundOfRun)
	switch {
	case err != nil:
		return round{}, err
	case last != nil && !a.wanted():
		*a = last.Again
		return *last, nil
	case last != nil && last.Retry == a.Retry && last.Recrawl == a.Recrawl:
		return *last, nil
	}
	return round{Asked: time.Now().UTC(), Again: *a}, nil
}

// writeRound stores a round. The zero round removes the stored one.
func writeRound(ctx context.Context, s store.Meta, r round) error {
	if r.Asked.IsZero() {
		return s.SetMeta(ctx, roundName, nil)
	}
	return store.WriteMeta(ctx, s, roundName, r)
}

type selection struct {
	store     store.Store
	options   *Again
	named     []frontier.Item  // seeds given by the user for this run
	crawl     *crawler.Options // scope and rules of the crawl
	refused   string           // the rule for one of the URLs that are not visited again for this reason; "" if there are none
	postponed bool             // also select URLs postponed by earlier runs
	round     round
	from      time.Time     // URLs that were due at this time have been selected before; zero if none have
	others    bool          // another worker has selected the URLs of the round, or an earlier run has
	took      time.Duration // how long putBack took
	read      time.Time     // when it ended
}

// requeuedAtOnce is the number of URLs that one call puts back. A store in a folder keeps those of one
// host together.
const requeuedAtOnce = 4096

func (c *selection) putBack(ctx context.Context) (n int64, err error) {
	if c.others {
		return 0, nil
	}
	began := time.Now()
	if c.options.wanted() && c.from.IsZero() {
		if err := writeRound(ctx, c.store, c.round); err != nil {
			return 0, err
		}
		if err := store.SetLastRound(ctx, c.store, c.round.Asked); err != nil {
			return 0, err
		}
		if c.round.Recrawl != "" { // --retry alone continues the last crawl and does not begin a new one
			if err := store.BeginCrawl(ctx, c.store, c.round.Asked); err != nil {
				return 0, err
			}
		}
	}
	var some []frontier.Item
	flush := func() error {
		put, err := c.store.Requeue(ctx, some)
		n, some = n+int64(put), some[:0]
		return err
	}
	err = c.each(ctx, func(time.Time) {}, func(item frontier.Item) error {
		if some = append(some, item); len(some) < requeuedAtOnce {
			return nil
		}
		return flush()
	})
	if err = cmp.Or(err, flush()); err != nil || c.round.Selector == "" {
		return n, err
	}
	c.read = time.Now()
	c.round.Selector, c.took = "", c.read.Sub(began)
	return n, writeRound(ctx, c.store, c.round)
}

// end records that all URLs of the round have been visited. Another worker may already have begun
// the next one.
func (c *selection) end(ctx context.Context) error {
	last, err := store.ReadMeta[round](ctx, c.store, roundName, roundOfRun)
	if err != nil || last == nil || !last.Asked.Equal(c.round.Asked) {
		return err
	}
	return writeRound(ctx, c.store, round{})
}

// each calls take with each URL to visit again: seeds of this run that have failed or were not
// fetched as pages, and the URLs that the options select. For a URL whose next visit is not due
// yet, it calls notDue with the time of that visit.
func (c *selection) each(ctx context.Context, notDue func(time.Time), take func(frontier.Item) error) error {
	if err := c.failedSeeds(ctx, take); err != nil {
		return err
	}
	if err := c.visited(ctx, notDue, take); err != nil {
		return err
	}
	return c.nowInScope(ctx, take)
}

// failedSeeds takes the seeds of this run that failed earlier, and the failed targets of their
// redirects. It also takes seeds that were only checked for existence, or fetched for the archive,
// because another page links to them; these must now be fetched as pages.
func (c *selection) failedSeeds(ctx context.Context, take func(frontier.Item) error) error {
	for _, seed := range c.named {
		for url, hops := seed.URL, 0; url != "" && hops <= crawler.MaxHops; hops++ {
			r, err := recordOf(ctx, c.store, url)
			if err != nil {
				return err
			}
			if r == nil {
				break
			}
			item := c.itemOf(r)
			aside := r.Checked || r.Requisite
			if aside {
				item.Kind, item.Depth = frontier.Page, 0
			}
			if (aside || slices.Contains(Retried, r.End())) && r.Visited().Before(c.round.Asked) {
				if err := take(item); err != nil {
					return err
				}
			}
			url = r.Location
		}
	}
	return nil
}

func recordOf(ctx context.Context, s store.Reader, url string) (*store.Record, error) {
	pages, err := s.Pages(ctx, []dedup.Hash{dedup.Hash(frontier.ID(url))}, store.WantRecord)
	if err != nil || pages[0] == nil {
		return nil, err
	}
	return &pages[0].Record, nil
}

// itemOf returns the item to visit a record's URL again. It has validators only if the new visit is
// private exactly if the last one was: a stranger's 304 must not confirm a private text, or the
// other way round.
func (c *selection) itemOf(r *store.Record) frontier.Item {
	item := store.Revisit(r, c.round.Asked, r.Private == c.crawl.IsPrivate(r.URL))
	if item.Kind != frontier.Requisite {
		item.Priority += c.crawl.Scope.Priority(r.URL)
	}
	return item
}

// visited takes the URLs with a record that the options select, and those that earlier runs
// postponed, unless this run may postpone URLs again.
func (c *selection) visited(ctx context.Context, notDue func(time.Time), take func(frontier.Item) error) error {
	tally, err := c.store.Tally(ctx)
	postponed := c.postponed && tally.Later > 0
	if err != nil || !postponed && !c.options.wanted() {
		return err
	}
	now := time.Now().UTC()
	for page, err := range c.store.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return fmt.Errorf("find URLs to visit again: %w", err)
		}
		r := &page.Record
		item := c.itemOf(r)
		item.Place, err = page.Cursor.Place()
		if err != nil {
			return err
		}
		again, err := c.wants(ctx, r, notDue)
		if why := c.refuses(&item, r); again && why != "" {
			again, c.refused = false, why
		}
		if r.Kind == store.Later && postponed {
			item = frontier.Item{URL: r.URL, From: r.From, Depth: r.Depth, Kind: r.ItemKind(), Priority: crawler.PutBackPriority, Due: now}
			again = true
		}
		if again && err == nil {
			err = take(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuses returns the reason why a record's URL must not be requested again, or "". A response that
// reached the size limit is not requested again for the same limit.
func (c *selection) refuses(item *frontier.Item, r *store.Record) string {
	if r.Problem == string(crawler.ProblemSize) && r.Size >= c.crawl.LimitOf(*item, r.ContentType) {
		return "max-size: it is larger than the limit for its kind"
	}
	return c.crawl.Refuses(*item)
}

// wants reports whether the options select a record's URL. If it is not selected only because its
// next visit is not due yet, wants passes the due time to notDue.
func (c *selection) wants(ctx context.Context, r *store.Record, notDue func(time.Time)) (bool, error) {
	asked := c.round.Asked
	switch {
	case r.Kind == store.Later: // see visited
		return false, nil
	case r.Kind == store.Skipped || !frontier.HasScheme(r.URL) || !r.Visited().Before(asked):
		return false, nil
	case slices.Contains(c.options.States, r.End()):
		return true, nil
	case c.options.Recrawl == "":
		return false, nil
	case !c.options.Due:
		return !r.Visited().Add(c.options.Age).After(asked), nil
	}
	due := c.options.Schedule.Due(r, nil)
	if r.Follows() && !due.After(asked) {
		leader, err := recordOf(ctx, c.store, r.DuplicateOf)
		if err != nil {
			return false, err
		}
		due = c.options.Schedule.Due(r, leader)
	}
	if due.After(asked) {
		notDue(due)
		return false, nil
	}
	return due.After(c.from), nil
}

// nowInScope takes the URLs that used to be out of scope but are now in scope, if the options
// select them. Their distance from a seed is unknown, so their links are followed only if the depth
// is unlimited. URLs of files in folders stay outside, because only pages of the same folder may
// link to them.
func (c *selection) nowInScope(ctx context.Context, take func(frontier.Item) error) error {
	if !slices.Contains(c.options.States, frontier.Outside) {
		return nil
	}
	for url, err := range c.store.URLs(ctx, frontier.Outside) {
		if err != nil {
			return err
		}
		url, why := frontier.Left(url)
		if why == "" || !c.crawl.Admits(url) { // without a reason, it has a record; see visited
			continue
		}
		if err := take(frontier.Item{URL: url, Depth: max(1, c.crawl.MaxDepth), Due: c.round.Asked}); err != nil {
			return err
		}
	}
	return nil
}

// none returns the message to show if the options select no URL in the store, or "" if the options
// do not ask for any. The argument firstDue is the time of the earliest due visit, or zero, and
// refused is the rule by which some URLs must not be requested, or "".
func (a *Again) none(store string, firstDue time.Time, refused string) string {
	switch {
	case refused != "":
		return fmt.Sprintf("Nothing to visit again: this run excludes the URLs of the crawl in %s (%s).", store, refused)
	case a.Due && !firstDue.IsZero():
		return fmt.Sprintf("No page of the crawl in %s is due before %s.", store, firstDue.UTC().Format(time.RFC3339))
	case a.Recrawl != "":
		return fmt.Sprintf("No page of the crawl in %s was last visited more than %s ago.", store, a.Recrawl)
	case len(a.States) > 0:
		return fmt.Sprintf("Nothing to retry: no URL of the crawl in %s is %s.", store, strings.ReplaceAll(a.Retry, ",", " or "))
	}
	return ""
}

// # When a page is due
//
// The true rate of change of a page is unknown; the best estimate is its past rate. So the interval
// to the next visit is half the average time between changes. But the interval is never shorter
// than the time that the page has been unchanged. If a page has never changed, its interval doubles
// with each visit. Cho and Garcia-Molina ("Estimating frequency of change", 2003) estimate the rate
// of a Poisson process with the same two numbers, and correct for changes between two visits. At
// most [store.MaxVisits] changes are remembered, so the interval adapts when a page begins to
// change less often.
//
// A page that is a duplicate of another is half as important: its interval is doubled, and it is
// never due before the page that it duplicates. A page that could not be fetched is retried sooner
// at first, and then less and less often. A page that is gone or never existed is visited at the
// longest interval. A sitemap is visited at the shortest interval, because it lists many pages at
// once.
//
// Known weaknesses: the schedule ignores the time of day, even if a front page always changes at
// seven in the morning. A new value of a counter or a date counts as a change, even though it is
// not news.

// A Schedule determines the time between visits to a page.
type Schedule struct {
	First time.Duration // time from the first visit to the second
	Least time.Duration // minimum interval, for a page that changes all the time
	Most  time.Duration // maximum interval, for a page that never changes or is gone
}

// DefaultSchedule returns a schedule that suits most sites: the second visit to a page is a day
// after the first, and later intervals are between an hour and 30 days.
func DefaultSchedule() Schedule {
	const day = 24 * time.Hour
	return Schedule{First: day, Least: time.Hour, Most: 30 * day}
}

// Due returns the time of the next visit to a page. If the page is a duplicate, leader is the
// record of its leader, or nil if that is unknown.
func (s Schedule) Due(r, leader *store.Record) time.Time {
	due := r.Visited().Add(s.interval(r))
	if r.Follows() && leader != nil && !leader.Follows() {
		if first := s.Due(leader, nil); due.Before(first) {
			return first.Add(1) // a nanosecond later, so the leader comes first if both are fetched in one run
		}
	}
	return due
}

func (s Schedule) interval(r *store.Record) time.Duration {
	switch {
	case r.Kind == store.Sitemap:
		return s.Least
	case r.Kind != store.Page && r.Kind != store.Other && r.Kind != store.Redirect:
		return s.Most
	case r.Missed > 0:
		return s.bounded(min(s.Least<<min(r.Missed-1, 20), s.usual(r)))
	case r.Follows():
		return s.bounded(2 * s.usual(r))
	}
	return s.usual(r)
}

// usual returns the interval for a page that could be fetched and is not a duplicate.
func (s Schedule) usual(r *store.Record) time.Duration {
	stood := r.Visited().Sub(r.FetchedAt)
	changes, since := r.Changes()
	if changes == 0 {
		return s.bounded(max(r.Visited().Sub(r.FirstFetched()), s.First))
	}
	each := r.Visited().Sub(since) / time.Duration(changes)
	return s.bounded(max(each/2, stood))
}

func (s Schedule) bounded(d time.Duration) time.Duration { return max(s.Least, min(d, s.Most)) }
