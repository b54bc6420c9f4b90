package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"skink/base/harmless"
	"skink/crawler"
	"skink/crawler/folder"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
	"skink/store/precedence"
)

type plan struct {
	seeds Seeds           // of this run and of earlier runs
	crawl crawler.Options // includes options derived from the seeds
	again *selection
}

// plan adds the seeds of this run to those in the store, and derives the options of the crawl from
// them. It writes nothing, so a command that fails before the crawl leaves no seeds in the store.
func (r *run) plan(ctx context.Context) (p plan, err error) {
	given := r.opt.Seeds
	if p.seeds, err = ReadSeeds(ctx, r.store); err != nil {
		return p, fmt.Errorf("%s: %w", r.store.Name, err)
	}
	var own Seeds
	for _, s := range r.opt.Own {
		own.URLs = append(own.URLs, s.URL)
	}
	named := given.Items()
	if len(named) == 0 {
		given = own
	}
	if err := p.seeds.find(given.Folders); err != nil {
		return p, err
	}
	if !r.opt.Add {
		if err := r.checkOthers(ctx, p.seeds, given); err != nil {
			return p, err
		}
	}
	p.seeds.Add(given)
	p.seeds.Add(own)
	first := r.steer == nil
	if first {
		if r.steer, err = openSteering(ctx, r.store, r.out, r.stop); err != nil {
			return p, err
		}
		old := r.opt
		r.steer.reload = func() { r.reload(old) }
	}
	p.seeds.Add(r.steer.seeds())

	o := r.opt.Crawl
	o.Control, o.ReadOrders = r.steer.control, r.steer.follow
	for _, s := range r.opt.Own {
		o.Scope.AddOwn(s)
	}
	for _, i := range p.seeds.Items() {
		o.Scope.AddMoved(p.seeds.From[i.URL], i.URL)
	}
	o.Folders = folder.Sites(p.seeds.Folders)
	o.Hidden = []string{r.store.Name}
	if r.opt.Feed != "" && r.opt.Feed != "-" && !frontier.HasScheme(r.opt.Feed) {
		o.Hidden = append(o.Hidden, r.opt.Feed)
	}
	if r.opt.CrawlLog != nil {
		o.Hidden = append(o.Hidden, r.opt.CrawlLog.Name())
	}
	if r.opt.Archive.Dir != "" {
		o.Hidden = append(o.Hidden, r.opt.Archive.Dir)
	}
	o.SeedHosts = wire.HostsOf(p.seeds.URLs...) // targets of redirects do not count
	public := func(host string) bool {
		name, _, _ := net.SplitHostPort(host)
		return !wire.IsSpecialHost(name)
	}
	if first && slices.ContainsFunc(o.SeedHosts, public) && !strings.ContainsAny(o.UserAgent, "@+") && !strings.Contains(o.UserAgent, "://") {
		r.out.Say("Tip: tell site owners who is crawling: --contact adds a URL or email address to each request.")
	}
	if first && !r.opt.DelayChosen && o.Delay > 0 && len(p.seeds.URLs) > 0 {
		r.out.Say("Tip: each host gets at most one request every %v. On your own sites, use a shorter --delay, such as 100ms or 0.", o.Delay)
	}
	p.crawl = o
	p.again = &selection{
		store: r.store, options: &r.opt.Again, crawl: &o, postponed: !r.opt.Learn || !r.opt.Budget,
	}
	if first { // later rounds visit seeds that failed when they are due
		p.again.named = named
	}
	if r.selected = p.again; !r.opt.Forever {
		p.again.round, err = openRound(ctx, r.store, &r.opt.Again)
	}
	return p, err
}

// checkOthers refuses the given seeds if the store contains a finished crawl that includes none of
// them. Otherwise, a user who has forgotten about the store would get two sites in one report. A crawl
// that fetched nothing accepts them, because they may correct its seeds.
func (r *run) checkOthers(ctx context.Context, stored, given Seeds) error {
	counts, err := r.store.Counts(ctx)
	if err != nil {
		return err
	}
	tally, err := r.store.Tally(ctx)
	switch {
	case err != nil:
		return err
	case counts.Pending > 0, fetchedNothing(tally), len(given.Items()) == 0, stored.sharesWith(given):
		return nil
	}
	return usagef("%s has a finished crawl of %s, with %s: add these seeds with --add, or choose another --store",
		r.store.Name, stored.Name(), report.Counted(tally.Pages(), "page"))
}

// anythingLeft reports whether the crawl has anything to do: a pending URL, a new seed, URLs to
// visit again, or postponed URLs to fetch. If not, firstDue is the earliest time at which a page is
// due for another visit, or zero.
func (r *run) anythingLeft(ctx context.Context, p plan) (left bool, firstDue time.Time, err error) {
	counts, err := r.store.Counts(ctx)
	if err != nil || counts.Pending > 0 {
		return true, firstDue, err
	}
	if r.opt.Forever {
		return len(p.seeds.Items()) > 0, firstDue, nil
	}
	for _, i := range p.seeds.Items() {
		state, err := r.store.State(ctx, i.URL)
		if err != nil || state.New() || state == frontier.Pending { // another worker may have queued the seed in the meantime
			return true, firstDue, err
		}
	}
	notDue := func(due time.Time) {
		if firstDue.IsZero() || due.Before(firstDue) {
			firstDue = due
		}
	}
	errFound := errors.New("found")
	if err := p.again.each(ctx, notDue, func(frontier.Item) error { return errFound }); err != nil {
		if errors.Is(err, errFound) {
			err = nil
		}
		return true, firstDue, err
	}
	tally, err := r.store.Tally(ctx)
	return r.opt.Learn && tally.Later > 0 && !r.opt.Again.wanted(), firstDue, err
}

func (r *run) nothingLeft(ctx context.Context, p plan, firstDue time.Time) error {
	tally, err := r.store.Tally(ctx)
	if err != nil {
		return err
	}
	if len(p.seeds.Items()) == 0 {
		return usagef("no seeds, and no crawl to continue in %s: specify a URL, a file of URLs, or a folder", r.store.Name)
	}
	if err := r.completeOutputs(ctx); err != nil {
		return err
	}
	if err := plant(ctx, r.store, &p.crawl, p.seeds); err != nil { // the seeds may include a folder that has moved
		return err
	}
	if err := r.endCrawl(ctx, p); err != nil { // an earlier run may have been killed after its last visit
		return err
	}
	if fetchedNothing(tally) {
		return nothingFetched(ctx, r.store, r.began)
	}
	if text := r.opt.Again.none(r.store.Name, firstDue, p.again.refused); text != "" {
		r.out.Say("%s", text)
	} else {
		r.out.Say("Nothing to do: the crawl in %s is finished, with %s. To revisit pages that are due, run %s --recrawl due; for all pages, use --recrawl 0s; for failed URLs, use --retry.", r.store.Name, report.Counted(tally.Pages(), "page"), r.withStore("skink crawl"))
	}
	switch r.opt.Feed {
	case "":
	case "-":
		r.out.Say("This run judged no page, so --feed - prints nothing; to print all pages, run %s", r.withStore("skink export"))
	default:
		r.out.Say("the feed is in %s", r.opt.Feed)
	}
	return nil
}

func (r *run) withStore(command string) string { return WithStore(command, r.store.Name) }

// WithStore adds the flag --store to a skink command line, unless name is the default store.
func WithStore(command, name string) string {
	if name == DefaultStore {
		return command
	}
	return command + " --store " + harmless.Quoted(name)
}

func (r *run) greeting(counts frontier.Counts, pages, back int64) string {
	if back > 0 && back == counts.Pending {
		return fmt.Sprintf("Revisiting %s of the crawl in %s", report.Counted(back, "URL"), r.store.Name)
	}
	if pages == 0 && counts.Fetched == 0 {
		return fmt.Sprintf("Crawling %s into %s", report.Counted(counts.Pending, "seed"), r.store.Name)
	}
	doing := "Continuing the crawl"
	if r.opt.Add {
		doing = "Adding seeds to the crawl"
	}
	return fmt.Sprintf("%s in %s: %s stored, %s to fetch", doing, r.store.Name, report.Counted(pages, "page"), report.Counted(counts.Pending, "URL"))
}

// begin writes the seeds to the store, and puts the URLs to visit again into the frontier. It
// returns the frontier's counts and the number of URLs put back. Call it when the crawl is ready to
// run.
func (r *run) begin(ctx context.Context, p plan) (counts frontier.Counts, back int64, err error) {
	r.sayRefused(&p.crawl, r.steer.seeds().URLs...)
	if err := plant(ctx, r.store, &p.crawl, p.seeds); err != nil {
		return counts, 0, err
	}
	if err := r.overrides().write(ctx, r.store); err != nil {
		return counts, 0, err
	}
	if r.opt.Forever {
		if err := r.openCommonRound(ctx, p.again); err != nil {
			return counts, 0, err
		}
	}
	if back, err = p.again.putBack(ctx); err != nil {
		return counts, back, err
	}
	counts, err = r.store.Counts(ctx)
	return counts, back, err
}

func plant(ctx context.Context, s store.Store, o *crawler.Options, all Seeds) error {
	if err := all.write(ctx, s); err != nil {
		return fmt.Errorf("write seeds: %w", err)
	}
	items := all.Items()
	for i := range items {
		items[i].Priority = o.Scope.Priority(items[i].URL)
	}
	if _, err := s.Discover(ctx, items); err != nil {
		return fmt.Errorf("write seeds: %w", err)
	}
	return nil
}

// moves records the new URL when a seed redirects to another URL of its site, for example from http
// to https.
type moves struct {
	*run
	pipeline *ingest.Pipeline
	archived func(*precedence.Order)
	options  *crawler.Options
	crawl    *crawler.Crawl
	seeds    Seeds // guarded by mu
	mu       sync.Mutex
}

// moved records a redirect from a seed to another URL. The host of that URL takes the place of the
// seed's host in the order of hosts; see package precedence.
func (m *moves) moved(ctx context.Context, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	order, err := precedence.Move(ctx, m.store, frontier.HostOf(from), frontier.HostOf(to))
	if err != nil {
		return err
	}
	m.pipeline.SetOrder(order)
	m.archived(order)
	m.seeds.Add(Seeds{Moved: []string{to}, From: map[string]string{to: from}})
	return m.seeds.write(ctx, m.store)
}

// orderHosts adds the hosts of seeds to the store's order of hosts. Pages on earlier hosts are
// preferred as leaders of their duplicates.
func orderHosts(ctx context.Context, s *NamedStore, prefer, hosts []string) (*precedence.Order, error) {
	order, err := precedence.Add(ctx, s, prefer, hosts)
	if errors.Is(err, precedence.ErrPrefer) {
		has := "without --prefer"
		if kept := order.Prefers(); len(kept) > 0 {
			has = "with" + preferFlags(kept)
		}
		return nil, usagef("%s was given, but %s was created %s: omit the flag, or choose another --store", preferFlags(prefer)[1:], s.Name, has)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return order, nil
}

// Each flag is preceded by a space.
func preferFlags(prefer []string) (flags string) {
	for _, expression := range prefer {
		flags += " --prefer " + harmless.Quoted(expression)
	}
	return flags
}
