package cli

import (
	"context"
	"fmt"

	"skink/crawler/folder"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/ingest"
	"skink/internal/precedence"
	"skink/report"
)

// gather adds the seeds to those in the store, and configures the crawl for them. It does not
// write, so a command that fails before its crawl leaves no seeds.
func (c *crawlRun) gather(ctx context.Context, given seeds) error {
	all, err := readSeeds(ctx, c.store)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	lost, folders := all.relocate(given.Folders)
	if len(folders) == len(given.Folders) && !c.add { // none is an earlier folder that moved
		if err := c.checkOthers(ctx, all, given); err != nil {
			return err
		}
	}
	c.named = given.items()
	given.Folders = folders
	all.merge(given)
	c.seeds = all
	for _, i := range all.items() {
		c.options.Scope.AddSeed(i.URL)
	}
	c.options.Folders = folder.Sites(all.Folders)
	c.leave(lost)
	c.options.Hidden = []string{c.name()}
	if c.feed != "" && c.feed != "-" && !frontier.HasScheme(c.feed) {
		c.options.Hidden = append(c.options.Hidden, c.feed)
	}
	if dir := c.crawlFlags.archive.dir; dir != "" {
		c.options.Hidden = append(c.options.Hidden, dir)
	}
	special := all.special()
	c.options.AllowHosts = append(c.options.AllowHosts, special...)
	c.options.SeedHosts = wire.HostsOf(all.URLs...)
	if len(all.URLs) > len(special) && !namesContact(c.options.UserAgent) {
		c.say.line("It is good manners to say who crawls: --contact takes a URL or an email address, and is sent with each request.")
	}
	return nil
}

// checkOthers refuses seeds if none of them is in the store and the store holds a finished crawl.
// Otherwise a user who forgot about the store would get two sites in one report.
func (c *crawlRun) checkOthers(ctx context.Context, stored, given seeds) error {
	counts, err := c.store.Counts(ctx)
	if err != nil {
		return err
	}
	tally, err := c.store.Tally(ctx)
	switch {
	case err != nil:
		return err
	case counts.Pending > 0, tally.Records() == 0, len(given.items()) == 0, stored.sharesWith(given):
		return nil
	}
	return usagef("%s holds a finished crawl of %s, with %s: give --add to crawl these seeds into it, too, or choose another --store",
		c.name(), stored.name(), report.Counted(tally.Pages(), "page"))
}

// anythingLeft reports whether the crawl has work: a pending URL, a new seed, URLs to visit again,
// or postponed URLs to check.
func (c *crawlRun) anythingLeft(ctx context.Context) (bool, error) {
	counts, err := c.store.Counts(ctx)
	if err != nil || counts.Pending > 0 {
		return true, err
	}
	for _, i := range c.seeds.items() {
		state, err := c.store.State(ctx, i.URL)
		if err != nil || state.New() || state == frontier.Pending { // another worker may have queued the seed meanwhile
			return true, err
		}
	}
	for _, err := range c.returning(ctx) {
		return true, err
	}
	tally, err := c.store.Tally(ctx)
	return bool(c.learning.learn) && tally.Later > 0 && !c.back.wanted(), err
}

// begin writes the seeds, and puts the URLs to visit again into the frontier. It returns the counts
// of the frontier and the number of these URLs. It is called when the crawl is ready to run.
func (c *crawlRun) begin(ctx context.Context) (counts frontier.Counts, back int64, err error) {
	if err := c.plant(ctx); err != nil {
		return counts, 0, err
	}
	if back, err = c.putBack(ctx); err != nil {
		return counts, back, err
	}
	counts, err = c.store.Counts(ctx)
	return counts, back, err
}

// plant writes the seeds to the store and to its frontier.
func (c *crawlRun) plant(ctx context.Context) error {
	c.movedMu.Lock()
	defer c.movedMu.Unlock()
	c.planted = true
	if err := c.seeds.write(ctx, c.store); err != nil {
		return fmt.Errorf("write seeds: %w", err)
	}
	if _, err := c.store.Discover(ctx, c.seeds.items()); err != nil {
		return fmt.Errorf("write seeds: %w", err)
	}
	return nil
}

// moved adds the URL to which a seed's site moved. Its host gets the place of the seed's host.
func (c *crawlRun) moved(ctx context.Context, pipeline *ingest.Pipeline, from, to string) error {
	c.movedMu.Lock()
	defer c.movedMu.Unlock()
	order, err := precedence.Move(ctx, c.store, frontier.HostOf(from), frontier.HostOf(to))
	if err != nil {
		return err
	}
	pipeline.SetOrder(order)
	c.seeds.merge(seeds{Moved: []string{to}})
	return c.seeds.write(ctx, c.store)
}
