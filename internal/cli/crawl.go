package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/loopback"
	"skink/internal/memory"
	"skink/internal/session"
	"skink/store"
	"skink/view"
	"skink/warc"
)

var crawlCommand = command{
	name:  "crawl",
	args:  "[flags] SEED...",
	short: "crawl sites and find duplicate pages",
	long: `
Crawls sites from the seeds, compares each page with the pages before it, and keeps the
result in a store. A SEED is a URL, a file of URLs (# begins a comment), - for URLs on
standard input, or a folder of HTML files, which is crawled as http://FOLDER.localhost/.

If a crawl is interrupted, run the same command again to continue.`,
	more: `
Without seeds, the crawl of the store continues. --add adds seeds to a finished crawl,
--recrawl visits its pages again, and --retry tries failed URLs again. The store keeps the
flags that decide how pages are compared. Give all other flags again; the last line of the
summary shows the whole command. While a crawl runs, the signal USR1, or Enter at a
terminal, prints which hosts are slow and which get no requests.

Pages with the same text form a cluster, and one of them is the leader. The first of these
rules that tells two pages apart decides: the canonical URL that the other's leader names;
the order of hosts in --prefer, then of seeds; listed in a sitemap; first seen with its
text; https; text in the declared language; shortest path.

--warc keeps the answers as a web archive (WARC 1.1): pages, errors, redirects and
robots.txt. Each file that is complete has an index (CDXJ) beside it. --from fetches
nothing: it judges the pages of archives, also of other tools, in their order. It learns
nothing about their sites. Pages that the first crawl recognised as soft 404 errors are
errors again.

--markdown keeps each page's main text also as Markdown, for --feed and skink export
--markdown. It takes about a fifth more disk space, and a quarter more time.

URLs of a pattern that keeps returning known texts are postponed, except for samples. Near
the end, the crawl fetches patterns whose samples had new texts. The summary counts the
other postponed URLs: fetch them with --budget off. skink status --learned HOST shows the
evidence.`,
	setup: setupCrawl,
}

// crawlFlags are the flags of skink crawl.
type crawlFlags struct {
	store    *string
	rule     *ruleFlags
	learning *learnFlags
	options  crawler.Options // see settle

	prefer           []string
	scope            string
	include, exclude []string
	maxSize          size
	memory           *size
	maxBytes         size
	maxHostBytes     size
	maxTime          time.Duration
	contact          string
	allowPrivate     *privateFlag
	feed             string
	archive          *archiveFlags
	from             []string
	metrics          string
	view             string // address of the view; "": none
	logFormat        string
	logURLs          bool
	add              bool
	again            *backFlags
	quiet            bool
}

func setupCrawl(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	return newCrawlFlags(flags).run
}

func newCrawlFlags(flags *pflag.FlagSet) *crawlFlags {
	f := &crawlFlags{options: crawler.Defaults()}
	f.store = addStoreFlag(flags)
	flags.StringVar(&f.options.Worker, "worker", "", "`NAME` name of this worker; workers that share a store need different names (default: machine and process)")
	flags.BoolVar(&f.add, "add", false, "add these seeds to a store that holds a finished crawl")
	f.again = addBackFlags(flags)
	f.rule = addRuleFlags(flags)
	f.rule.addLinksFlag(flags)
	o := &f.options
	f.maxSize = size(o.MaxSize)
	f.learning = addLearnFlags(flags)
	f.rule.addOnDuplicateFlag(flags)
	flags.StringArrayVar(&f.prefer, "prefer", nil, "`REGEXP` pages whose URL matches lead their duplicates (repeatable, best first; default: the order of seeds)")
	f.rule.addMarkdownFlags()
	flags.StringVar(&f.feed, "feed", "", "`FILE` write unique and thin pages as they come: to a file, to - (this run only), or to the URL of an index")

	f.archive = addArchiveFlags(flags)
	flags.StringArrayVar(&f.from, "from", nil, "`PATH` judge the pages of this web archive, or of a folder of archives, and fetch nothing (repeatable)")

	flags.StringVar(&f.scope, "scope", crawler.ScopeHost, "`host|domain|prefix|any` follow links to the same host, the same domain, below the seed's folder, or anywhere")
	flags.BoolVar(&o.OpenFolders, "open-folders", false, "let pages of other seeds link into folders")
	flags.StringArrayVar(&f.include, "include", nil, "`REGEXP` follow only URLs that match (repeatable)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "`REGEXP` do not fetch or check URLs that match (repeatable)")
	flags.BoolVar(&o.ObeyNoFollow, "obey-nofollow", false, "do not follow links with rel=nofollow")
	flags.BoolVar(&o.CheckAssets, "check-assets", false, "check with HEAD whether pictures, scripts, style sheets and other files of pages exist")
	flags.BoolVar(&o.CheckOthers, "check-external", false, "check with HEAD whether linked pages of other sites exist")
	flags.IntVar(&o.MaxDepth, "max-depth", 0, "follow at most this many links from a seed, 0: no limit")

	flags.Int64Var(&o.MaxPages, "max-pages", 0, "stop when the store holds this many pages, 0: no limit")
	flags.DurationVar(&f.maxTime, "max-time", 0, "stop this run after this time, 0: no limit")
	flags.Var(&f.maxBytes, "max-bytes", "stop this run after fetching this much, 0: no limit")
	flags.Int64Var(&o.HostBudget.Pages, "max-host-pages", 0, "fetch at most this many pages and files from a host, 0: no limit")
	flags.Var(&f.maxHostBytes, "max-host-bytes", "fetch at most this much from a host, 0: no limit")

	flags.IntVar(&o.Parallel, "parallel", o.Parallel, "pages processed at once; 128 by default if the store is on a server")
	flags.IntVar(&o.Connections, "connections", o.Connections, "URLs fetched at once; most of them wait for an answer")
	flags.IntVar(&o.PerHost, "per-host", o.PerHost, "requests at once to one host")
	flags.IntVar(&o.PerIP, "per-ip", o.PerIP, "requests at once to an IP address that several hosts share, 0: no limit")
	flags.DurationVar(&o.Delay, "delay", o.Delay, "shortest time between two requests to one host; longer if it answers slowly")
	flags.DurationVar(&o.MaxDelay, "max-delay", o.MaxDelay, "longest delay that robots.txt or slow answers can cause, 0: no limit")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "longest time for one request and its answer")
	flags.IntVar(&o.Retries, "retries", o.Retries, "further tries after a temporary error")
	flags.DurationVar(&o.Grace, "grace", o.Grace, "when the crawl is stopped: time to finish requests, and to send the rest to an index")
	flags.Var(&f.maxSize, "max-size", "largest page that is judged")
	f.memory = addMemoryFlag(flags)
	flags.StringVar(&o.UserAgent, "user-agent", o.UserAgent, "`TEXT` User-Agent header")
	flags.StringVar(&f.contact, "contact", "", "`CONTACT` URL or email address where site owners can reach you, sent with --user-agent")
	flags.BoolVar(&o.IgnoreNoFollow, "ignore-nofollow", false, "follow links of pages whose robots meta tag says nofollow; for your own sites")
	flags.BoolVar(&o.IgnoreRobots, "ignore-robots", false, "do not read robots.txt; for your own sites")
	f.allowPrivate = addPrivateFlag(flags)

	flags.StringVar(&f.metrics, "metrics", "", "`ADDR` serve Prometheus metrics and profiles at this address; a port alone is on loopback")
	flags.StringVar(&f.view, "view", "", "`ADDR` show the crawl in a browser, as skink view does")
	flags.Lookup("view").NoOptDefVal = viewAddress
	flags.StringVar(&f.logFormat, "log-format", "text", "`text|json` format of progress and summary")
	flags.BoolVar(&f.logURLs, "log-urls", false, "with --log-format json: one line per URL, with answer and verdict")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	return f
}

func (f *crawlFlags) run(ctx context.Context, con Console, args []string) error {
	opt, args, err := f.settle(args)
	if err != nil {
		return err
	}
	if err := f.memory.heed(); err != nil {
		return err
	}
	out := con.output(f.logFormat == "json", f.quiet)
	if len(f.from) > 0 {
		return logged(out.Log, interrupted(ctx, f.replay(ctx, out, opt, args)))
	}
	return logged(out.Log, interrupted(ctx, f.start(ctx, con, out, opt, args)))
}

// start opens the store and crawls into it.
func (f *crawlFlags) start(ctx context.Context, con Console, out session.Output, opt session.Options, args []string) error {
	var err error
	opt.Seeds, err = await(ctx, func() (session.Seeds, error) { return parseSeeds(args, con.In) })
	if err != nil {
		return err
	}
	if len(args) > 0 && len(opt.Seeds.Items()) == 0 {
		return usagef("the seeds contain no URL: try one, such as https://example.org/")
	}
	if err := outsideFolders(*f.store, opt.Seeds.Folders); err != nil {
		return err
	}
	place := aboutToOpen(*f.store)
	s, err := openStore(ctx, *f.store, len(args) > 0, 16+opt.Crawl.Parallel)
	if err != nil {
		if len(args) == 0 && errors.Is(err, store.ErrNotExist) {
			return usagef("no seeds, and no crawl to continue in %s: name a URL, a file of URLs, or a folder", withoutPassword(*f.store))
		}
		return err
	}
	sum, err := f.crawl(ctx, con, out, opt, s, slices.Contains(args, "-"))
	if err = errors.Join(err, s.Close()); err != nil && !sum.Began {
		err = errors.Join(err, place.discard())
	}
	if err == nil && sum.End.Interrupted {
		return exitError(exitFailed)
	}
	return err
}

// crawl crawls into an open store, which other processes can read meanwhile.
func (f *crawlFlags) crawl(ctx context.Context, con Console, out session.Output, opt session.Options, s *writeStore, stdinIsSeeds bool) (sum session.Summary, err error) {
	if text := lossText(s.loss()); text != "" {
		out.Say("%s", text)
	}
	if err := mayGoOn(ctx, s.Name, s); err != nil {
		return sum, err
	}
	if f.feed != "" && f.feed != "-" && !frontier.HasScheme(f.feed) {
		if err := mayWrite("--feed", f.feed, nil); err != nil {
			return sum, err
		}
	}
	stop := s.answer("skink crawl", func(err error) { out.Say("%v", err) })
	asked, release := con.asked(stdinIsSeeds)
	defer release()
	out.Asked = asked
	sum, err = session.Run(ctx, &s.Store, opt, out)
	return sum, errors.Join(err, stop())
}

// replay runs skink crawl --from.
func (f *crawlFlags) replay(ctx context.Context, out session.Output, opt session.Options, args []string) (err error) {
	switch {
	case len(args) > 0:
		return usagef("--from fetches nothing: omit the seeds")
	case f.again.retry != "" || f.again.recrawl != "":
		return usagef("--from fetches nothing: omit --retry and --recrawl")
	case f.learning.given() != "":
		return usagef("--from fetches nothing: omit %s", f.learning.given())
	case f.archive.dir != "":
		return usagef("--from reads an archive and writes none: omit --warc")
	case f.feed != "":
		return usagef("--from and --feed: what is judged is printed by skink export when it is done")
	}
	var files []corpus.Archive
	for _, path := range f.from {
		of, err := corpus.Archives(path)
		if err != nil {
			return plainError(path, err)
		}
		files = append(files, of...)
	}
	s, err := openStore(ctx, *f.store, true, 16)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, s.Close()) }()
	if text := lossText(s.loss()); text != "" {
		out.Say("%s", text)
	}
	if err := mayGoOn(ctx, s.Name, s); err != nil {
		return err
	}
	stop := s.answer("skink crawl", func(err error) { out.Say("%v", err) })
	defer func() { err = keepFirst(err, stop()) }()
	return session.Replay(ctx, &s.Store, opt, out, files)
}

// parallelShared is the number of pages processed at once if the store is on a server. Most of them
// wait for the server, and look-ups and commits that wait at the same time are combined.
const parallelShared = 128

// settle turns the flags into the options of a run, and refuses values that make no sense. It returns
// the arguments that are seeds.
func (f *crawlFlags) settle(args []string) (opt session.Options, seeds []string, err error) {
	o := f.options
	o.MaxSize, o.MaxBytes, o.HostBudget.Bytes = int64(f.maxSize), int64(f.maxBytes), int64(f.maxHostBytes)
	o.Bodies = memory.Divide(int64(*f.memory)).Bodies
	o.Sitemaps = bool(f.learning.sitemaps)
	if isShared(*f.store) && !f.rule.flags.Changed("parallel") {
		o.Parallel = parallelShared
	}
	if err := f.check(&o); err != nil {
		return opt, args, err
	}
	if o.UserAgent, err = f.agent(); err != nil {
		return opt, args, err
	}
	if err := f.allowPrivate.allow(&o); err != nil {
		return opt, args, err
	}
	if o.Scope, err = f.newScope(); err != nil {
		return opt, args, err
	}
	opt = session.Options{
		Crawl: o, Wanted: f.rule.wanted(), Prefer: f.prefer, Add: f.add,
		GoneAfter: f.again.goneAfter, Learn: bool(f.learning.learn), Budget: bool(f.learning.budget),
		Memory: int64(*f.memory), MaxTime: f.maxTime,
		Feed: f.feed, Archive: session.Archive{Dir: f.archive.dir, Size: int64(f.archive.size), Digest: warc.Digest(f.archive.digest)},
		LogURLs: f.logURLs, Build: readBuild(), DelayChosen: f.rule.flags.Changed("delay"), Resume: f.resume,
	}
	if f.metrics != "" {
		if opt.Metrics, err = loopback.Address(f.metrics); err != nil {
			return opt, args, usagef("--metrics %q: %w: try a port, such as 9464, or an address with one", f.metrics, err)
		}
	}
	if f.view != "" {
		address, err := loopback.Address(f.view)
		if err != nil {
			return opt, args, usagef("--view=%s: %w: try a port, such as 8466, or an address with one", f.view, err)
		}
		opt.View = func(rule dedup.Rule) view.Options { return viewOf(address, rule) }
	}
	if frontier.HasScheme(f.feed) {
		if opt.Index, err = credentials(); err != nil {
			return opt, args, err
		}
	}
	if opt.Again, args, err = f.again.heed(args); err != nil {
		return opt, args, err
	}
	if f.rule.pictures && !f.rule.markdown {
		return opt, args, usagef("--pictures needs --markdown: give both")
	}
	_, err = session.RuleOf(opt.Wanted.Settings)
	return opt, args, err
}

// newScope returns the scope of the flags.
func (f *crawlFlags) newScope() (*crawler.Scope, error) {
	scope, err := crawler.NewScope(f.scope, f.include, f.exclude)
	if pattern, ok := errors.AsType[*crawler.PatternError](err); ok {
		return nil, usagef("--%s %q is not a regular expression: %w; for the syntax see https://go.dev/s/re2syntax", pattern.List, pattern.Pattern, pattern.Err)
	}
	if err != nil {
		return nil, usageError{Err: err}
	}
	return scope, nil
}

// check refuses numbers that make no sense.
func (f *crawlFlags) check(o *crawler.Options) error {
	switch {
	case f.logFormat != "text" && f.logFormat != "json":
		return usagef("--log-format %q: try text or json", f.logFormat)
	case f.logURLs && (f.logFormat != "json" || f.quiet):
		return usagef("--log-urls needs --log-format json, without --quiet")
	case o.PerIP < 0:
		return usagef("--per-ip %d: try 0 for no limit", o.PerIP)
	case o.MaxDelay < 0:
		return usagef("--max-delay %v: try 0 for no limit", o.MaxDelay)
	case o.Retries < 0:
		return usagef("--retries %d: try 0 for none", o.Retries)
	case o.Grace < 0:
		return usagef("--grace %v: try 0 for none", o.Grace)
	case f.maxTime < 0:
		return usagef("--max-time %v: try 0 for no limit", f.maxTime)
	case o.HostBudget.Pages < 0:
		return usagef("--max-host-pages %d: try 0 for no limit", o.HostBudget.Pages)
	case f.rule.onDuplicate != session.Tag && f.rule.onDuplicate != session.Skip:
		return usagef("--on-duplicate %q: try tag or skip", f.rule.onDuplicate)
	case o.Parallel < 1:
		return usagef("--parallel %d: try 1 or more", o.Parallel)
	case o.Connections < 1:
		return usagef("--connections %d: try 1 or more", o.Connections)
	case o.PerHost < 1:
		return usagef("--per-host %d: try 1 or more", o.PerHost)
	case o.Delay < 0:
		return usagef("--delay %v: try 0 or more", o.Delay)
	case o.Timeout <= 0:
		return usagef("--timeout %v: try 30s", o.Timeout)
	case o.MaxSize < 1:
		return usagef("--max-size %q: try a size, such as 500KB or 10MB", f.maxSize.String())
	case o.MaxPages < 0:
		return usagef("--max-pages %d: try 0 for no limit", o.MaxPages)
	case o.MaxDepth < 0:
		return usagef("--max-depth %d: try 0 for no limit", o.MaxDepth)
	case o.UserAgent == "":
		return usagef("--user-agent is empty: omit it, or name a contact")
	}
	if err := f.archive.check(); err != nil {
		return err
	}
	return checkPrefer(f.prefer)
}

// agent returns the user agent with the contact. It fails for text that cannot be sent in a header.
func (f *crawlFlags) agent() (string, error) {
	printable := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	}
	agent := f.options.UserAgent
	switch {
	case !printable(agent):
		return "", usagef("--user-agent %q: use printable ASCII characters only", agent)
	case f.contact == "":
		return agent, nil
	case !printable(f.contact) || strings.ContainsAny(f.contact, "() ") || !strings.Contains(f.contact, "@") && !strings.Contains(f.contact, "://"):
		return "", usagef("--contact %q: try a URL, such as https://example.org/crawler, or an email address", f.contact)
	}
	return agent + " (+" + f.contact + ")", nil
}
