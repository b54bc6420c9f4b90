package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/ingest"
	"skink/internal/revisit"
	"skink/store"
)

// # Visiting again and retrying
//
// At the beginning of a run, URLs that must be visited again are put back into the frontier, with
// that moment as their due time. So the time of a URL's record shows whether the visit was made.
// The store keeps the moment until the round is complete. If a run is killed, even while it puts
// URLs back, the next run uses the same moment, and visits no URL twice.

// backFlags are the flags of skink crawl for URLs that have ended.
type backFlags struct {
	flags     *pflag.FlagSet
	retry     string
	recrawl   string
	schedule  revisit.Schedule
	goneAfter int
}

// retried are the states whose URLs --retry can put back.
var retried = []frontier.State{frontier.Failed, frontier.GivenUp, frontier.Blocked, frontier.Outside}

const usualRetry = "failed,given-up"

func addBackFlags(flags *pflag.FlagSet) *backFlags {
	f := &backFlags{flags: flags, schedule: revisit.Defaults()}
	flags.StringVar(&f.retry, "retry", "", "try URLs again that are failed, given-up, blocked or outside (those that the scope admits now), with a comma between, or all of these; alone: failed and given-up")
	flags.Lookup("retry").NoOptDefVal = usualRetry
	flags.StringVar(&f.recrawl, "recrawl", "", "visit again what was last visited longer ago than this AGE, such as 36h or 7d, or what is due by what is known of it")
	flags.DurationVar(&f.schedule.First, "recrawl-first", f.schedule.First, "with --recrawl due, when a page is due after its first visit")
	flags.DurationVar(&f.schedule.Least, "recrawl-least", f.schedule.Least, "with --recrawl due, the shortest time between two visits of a page")
	flags.DurationVar(&f.schedule.Most, "recrawl-most", f.schedule.Most, "with --recrawl due, the longest: also of pages that are gone")
	flags.IntVar(&f.goneAfter, "gone-after", ingest.DefaultGoneAfter, "visits in a row that fail after which a page is taken for gone; one that answers 404 or 410 is gone at once, one that turned empty, or into the same as many others, is a failed visit")
	return f
}

// A back selects the URLs to visit again.
type back struct {
	states   []frontier.State
	recrawls bool
	due      bool          // URLs that are due; if not set, those last visited at least age ago
	age      time.Duration // 0: all URLs
	schedule revisit.Schedule
}

// heed returns the selection of the flags. If the word after a bare --retry names states, it is not
// a seed: rest is args without it.
func (f *backFlags) heed(args []string) (b back, rest []string, err error) {
	b.schedule = f.schedule
	if f.retry == usualRetry {
		if i := slices.IndexFunc(args, func(arg string) bool { _, err := parseStates(arg); return err == nil }); i >= 0 {
			f.retry, args = args[i], slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	if f.retry != "" {
		if b.states, err = parseStates(f.retry); err != nil {
			return b, args, err
		}
	}
	switch s := f.schedule; {
	case f.goneAfter < 1:
		return b, args, usagef("--gone-after %d: try 1 or more", f.goneAfter)
	case s.Least <= 0 || s.Least > s.Most:
		return b, args, usagef("--recrawl-least %v and --recrawl-most %v: try 1h and 720h", s.Least, s.Most)
	case s.First <= 0:
		return b, args, usagef("--recrawl-first %v: try 24h", s.First)
	}
	b.recrawls, b.due = f.recrawl != "", f.recrawl == "due"
	for _, name := range []string{"recrawl-first", "recrawl-least", "recrawl-most"} {
		if f.flags.Changed(name) && !b.due {
			return b, args, usagef("--%s adds to --recrawl due: give both", name)
		}
	}
	if b.recrawls && !b.due {
		b.age, err = parseAge(f.recrawl)
	}
	return b, args, err
}

func parseStates(text string) (states []frontier.State, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word == "all" {
			return retried, nil
		}
		i := slices.IndexFunc(retried, func(s frontier.State) bool { return nameOf(s) == word })
		if i < 0 {
			return nil, usagef("--retry %q: try failed, given-up, blocked, outside or all", text)
		}
		states = append(states, retried[i])
	}
	return states, nil
}

// parseAge parses a duration, which may be in days or weeks.
func parseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(meantDuration(strings.ToLower(text)))
	if err != nil || age < 0 {
		return 0, usagef("--recrawl %q: try due, or an age such as 36h or 7d", text)
	}
	return age, nil
}

func (b *back) wanted() bool { return b.recrawls || len(b.states) > 0 }

// A round is a selection of URLs with the time at which it began. The store keeps it until it is
// complete.
type round struct {
	Asked   time.Time `json:"asked"`
	Retry   string    `json:"retry,omitempty"`
	Recrawl string    `json:"recrawl,omitempty"`
}

const roundName = "round"

// openRound returns the round that this run begins or continues.
func (c *crawlRun) openRound(ctx context.Context) (round, error) {
	began := round{Asked: time.Now().UTC(), Retry: c.again.retry, Recrawl: c.again.recrawl}
	text, err := c.store.Meta(ctx, roundName)
	if err != nil || len(text) == 0 {
		return began, err
	}
	var last round
	if err := json.Unmarshal(text, &last); err != nil {
		return began, fmt.Errorf("read what was asked for: %w: %v", store.ErrCorrupt, err)
	}
	if last.Retry == began.Retry && last.Recrawl == began.Recrawl {
		return last, nil
	}
	return began, nil
}

// writeRound writes a round to the store; the zero round means that none is under way.
func (c *crawlRun) writeRound(ctx context.Context, r round) error {
	text, err := json.Marshal(r)
	if r == (round{}) {
		text = nil
	}
	if err == nil {
		err = c.store.SetMeta(ctx, roundName, text)
	}
	if err != nil {
		return fmt.Errorf("write what was asked for: %w", err)
	}
	return nil
}

// putBack puts the URLs to visit again into the frontier, and returns their number.
func (c *crawlRun) putBack(ctx context.Context) (n int64, err error) {
	if c.back.wanted() {
		if err := c.writeRound(ctx, c.round); err != nil {
			return 0, err
		}
		if err := store.SetLastRound(ctx, c.store, c.round.Asked); err != nil {
			return 0, err
		}
	}
	var some []frontier.Item
	flush := func() error {
		put, err := c.store.Requeue(ctx, some)
		n, some = n+int64(put), some[:0]
		return err
	}
	for item, err := range c.returning(ctx) {
		if err != nil {
			return n, err
		}
		if some = append(some, item); len(some) == 1000 {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	return n, flush()
}

// returning yields the URLs to visit again: seeds on the command line that failed or were only
// checked, and the URLs that the flags select. It also sets the time at which the first of the
// other URLs is due.
func (c *crawlRun) returning(ctx context.Context) iter.Seq2[frontier.Item, error] {
	return func(yield func(frontier.Item, error) bool) {
		for _, list := range []iter.Seq2[frontier.Item, error]{c.failedSeeds(ctx), c.ended(ctx), c.nowInScope(ctx), c.postponed(ctx)} {
			for item, err := range list {
				if !yield(item, err) || err != nil {
					return
				}
			}
		}
	}
}

// failedSeeds yields the seeds on the command line that failed before, and failed targets of their
// redirects. A seed that was only checked, because a page links to it, is fetched now.
func (c *crawlRun) failedSeeds(ctx context.Context) iter.Seq2[frontier.Item, error] {
	return func(yield func(frontier.Item, error) bool) {
		for _, seed := range c.named {
			for url, hops := seed.URL, 0; url != "" && hops <= mostHops; hops++ {
				r, err := c.recordOf(ctx, url)
				if err != nil {
					yield(frontier.Item{}, err)
					return
				}
				if r == nil {
					break
				}
				item := c.itemOf(r)
				if r.Checked {
					item.Kind, item.Depth = frontier.Page, 0
				}
				again := r.Checked || slices.Contains(retried, r.End())
				if again && r.Visited().Before(c.round.Asked) && !yield(item, nil) {
					return
				}
				url = r.Location
			}
		}
	}
}

// mostHops is the number of redirects in a row that a crawl follows.
const mostHops = 10

func (c *crawlRun) recordOf(ctx context.Context, url string) (*store.Record, error) {
	pages, err := c.store.Pages(ctx, []dedup.Hash{dedup.Hash(frontier.ID(url))}, store.WantRecord)
	if err != nil || pages[0] == nil {
		return nil, err
	}
	return &pages[0].Record, nil
}

// itemOf returns the item that fetches a record's URL again.
func (c *crawlRun) itemOf(r *store.Record) frontier.Item {
	it := frontier.Item{URL: r.URL, Via: r.Via, Depth: r.Depth, Hops: r.Hops, Due: c.round.Asked, ETag: r.ETag, Modified: r.Modified}
	if r.Checked {
		it.Kind = frontier.Check
	}
	if r.Kind == store.Sitemap {
		it.Kind = frontier.Sitemap
	}
	return it
}

// ended yields the URLs with a record that the flags select.
func (c *crawlRun) ended(ctx context.Context) iter.Seq2[frontier.Item, error] {
	return func(yield func(frontier.Item, error) bool) {
		if !c.back.wanted() {
			return
		}
		for page, err := range c.store.Changes(ctx, "", store.WantRecord) {
			if err != nil {
				yield(frontier.Item{}, fmt.Errorf("look for what is to be visited again: %w", err))
				return
			}
			r := &page.Record
			switch again, err := c.wants(ctx, r); {
			case err != nil:
				yield(frontier.Item{}, err)
				return
			case again && !yield(c.itemOf(r), nil):
				return
			}
		}
	}
}

// wants reports whether the flags select a record's URL.
func (c *crawlRun) wants(ctx context.Context, r *store.Record) (bool, error) {
	asked := c.round.Asked
	switch {
	case r.Kind == store.Later: // see postponed
		return false, nil
	case r.Kind == store.Skipped || !frontier.HasScheme(r.URL) || !r.Visited().Before(asked):
		return false, nil
	case slices.Contains(c.back.states, r.End()):
		return true, nil
	case !c.back.recrawls:
		return false, nil
	case !c.back.due:
		return !r.Visited().Add(c.back.age).After(asked), nil
	}
	due := c.back.schedule.Due(r, nil)
	if r.Follows() && !due.After(asked) {
		leader, err := c.recordOf(ctx, r.DuplicateOf)
		if err != nil {
			return false, err
		}
		due = c.back.schedule.Due(r, leader)
	}
	if due.After(asked) && (c.firstDue.IsZero() || due.Before(c.firstDue)) {
		c.firstDue = due
	}
	return !due.After(asked), nil
}

// dated processes the lastmods of a sitemap. It puts pages that changed after their last visit back
// into the frontier, if the host's lastmods have proved reliable.
func (c *crawlRun) dated(ctx context.Context, book *learn.Book, listed []crawler.Dated) error {
	ids := make([]dedup.Hash, len(listed))
	for i, d := range listed {
		ids[i] = dedup.Hash(frontier.ID(d.URL))
	}
	pages, err := c.store.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return err
	}
	proofs, changed := map[string]learn.Proofs{}, map[string][]frontier.Item{}
	for i, page := range pages {
		if page == nil {
			continue
		}
		r, host := &page.Record, frontier.HostOf(listed[i].URL)
		p := proofs[host]
		switch holds, known := revisit.Holds(r, listed[i].LastMod); {
		case holds:
			p.Right++
		case known:
			p.Wrong++
		}
		proofs[host] = p
		if r.Visited().Before(c.round.Asked) && revisit.Changed(r, listed[i].LastMod) {
			changed[host] = append(changed[host], c.itemOf(r))
		}
	}
	for host, p := range proofs {
		all, err := book.Dated(ctx, host, p)
		if err == nil && revisit.Trusted(all.Right, all.Wrong) {
			_, err = c.store.Requeue(ctx, changed[host])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nowInScope yields the URLs that were outside the scope, if the flags select them and the scope
// now admits them. Their distance from a seed is unknown, so their links are followed only if the
// depth has no limit. URLs of folders stay outside, because only a folder's own pages may link
// there.
func (c *crawlRun) nowInScope(ctx context.Context) iter.Seq2[frontier.Item, error] {
	return func(yield func(frontier.Item, error) bool) {
		if !slices.Contains(c.back.states, frontier.Outside) {
			return
		}
		for url, err := range c.store.URLs(ctx, frontier.Outside) {
			if err != nil {
				yield(frontier.Item{}, err)
				return
			}
			item := frontier.Item{URL: url, Depth: max(1, c.options.MaxDepth), Due: c.round.Asked}
			if c.options.Admits(url) && !yield(item, nil) {
				return
			}
		}
	}
}

// nothingBack returns a message that the flags selected no URLs, or "" if the flags are not set.
func (c *crawlRun) nothingBack() string {
	switch {
	case c.back.due && !c.firstDue.IsZero():
		return fmt.Sprintf("Nothing of the crawl in %s is due before %s.", c.name(), c.firstDue.UTC().Format(time.RFC3339))
	case c.back.recrawls:
		return fmt.Sprintf("Nothing of the crawl in %s was last visited longer ago than %s.", c.name(), c.again.recrawl)
	case len(c.back.states) > 0:
		return fmt.Sprintf("Nothing is left to try again: no URL of the crawl in %s is %s.", c.name(), strings.ReplaceAll(c.again.retry, ",", " or "))
	}
	return ""
}

// ago returns a text with the time of a URL's last visit, if that was before this run.
func (c *crawlRun) ago(r *store.Record) string {
	if at := r.Visited(); at.Before(c.began) {
		return " (at " + at.UTC().Format(time.RFC3339) + ")"
	}
	return ""
}
