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
	short: "crawl sites, and judge each page as it comes",
	long: `
Crawls from the seeds, judges each page against those before it, and keeps all of
it in a store. A SEED is a URL, a file of URLs (# begins a comment), - for URLs on
standard input, or a folder of HTML files, which is served on loopback as
http://FOLDER.localhost/ and crawled like a site.

A crawl that was stopped or killed is resumed by the same command, or without
seeds; new seeds are added to it, and to a finished one with --add. A finished one
comes back to its pages with --recrawl, and tries again what failed with --retry;
a page that the server says was not modified is not sent again. The store knows
how pages are judged; all other flags are to be given again, as the last line of the
summary does. While it runs, the signal USR1, or Enter at a terminal, shows which
hosts are slow and which are left alone.

Of pages with one text one leads, and the others are its duplicates. The first of these
decides: the page that the others' leader names as its canonical URL; the host, in the
order of --prefer, then of the seeds; a page in a sitemap; the page that was seen first
with its text; https; a page whose language is the one it declares; the shortest path.

With --warc the answers are kept as a web archive (WARC 1.1), as they came: pages,
errors, redirects, robots.txt. Each file is closed whole, with its index (CDXJ) beside
it. With --from nothing is fetched: the pages of archives, of this or of other tools,
are judged into the store as if they had been crawled, in the order in which they stand.
Nothing is learned of their sites, for no fetch could be spared; what the crawl that wrote
them found out to be errors (soft 404) is an error again.

With --markdown the store keeps each page's main text as Markdown beside the plain one:
about a fifth more of the disk, and a quarter more of the time. It is in the feed, and
skink export --markdown writes it.

URLs of patterns that keep returning known texts are postponed, but for samples. When
nothing else is left, the run goes on with patterns whose samples gave new texts. The
summary counts the rest; --budget off fetches it, and skink status --learned HOST
shows why it was postponed.

Example: two sites, near-duplicates kept without their text

  skink crawl --on-duplicate skip https://example.org/ https://example.com/docs/

Example: a crawl with its archive, and the archive judged by another rule

  skink crawl --store docs --warc archive https://example.org/
  skink crawl --store strict --similarity 0.9 --from archive`,
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
	flags.StringVar(&f.options.Worker, "worker", "", "name of this worker among those that share the store; two that run at once need two names (default: its machine and process)")
	flags.BoolVar(&f.add, "add", false, "add these seeds to a store that holds a finished crawl of others")
	f.again = addBackFlags(flags)
	f.rule = addRuleFlags(flags)
	f.rule.addLinksFlag(flags)
	o := &f.options
	f.maxSize = size(o.MaxSize)
	f.learning = addLearnFlags(flags)
	f.rule.addOnDuplicateFlag(flags)
	flags.StringArrayVar(&f.prefer, "prefer", nil, "let pages whose URL matches this regular expression lead their copies (may be repeated; the first one goes first; default: the order of the seeds); a store keeps it")
	f.rule.addMarkdownFlags()
	flags.StringVar(&f.feed, "feed", "", "write unique and thin pages to FILE as they come, or send them to an index of Elasticsearch or OpenSearch, https://HOST:9200/INDEX (see skink export), or print with - those that this run judges: skink export prints those of all runs")

	f.archive = addArchiveFlags(flags)
	flags.StringArrayVar(&f.from, "from", nil, "judge the pages of this web archive, or of those in this folder, and fetch nothing (may be repeated)")

	flags.StringVar(&f.scope, "scope", crawler.ScopeHost, "what to follow: host, domain, prefix (the seed's folder) or any")
	flags.BoolVar(&o.OpenFolders, "open-folders", false, "let pages of other seeds lead into folders; else only a folder's own pages do")
	flags.StringArrayVar(&f.include, "include", nil, "follow only URLs that match this regular expression (may be repeated)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "follow and check no URL that matches this regular expression (may be repeated)")
	flags.BoolVar(&o.ObeyNoFollow, "obey-nofollow", false, "follow no link that says rel=nofollow; pages that say so of all their links are obeyed without it, see --ignore-nofollow")
	flags.BoolVar(&o.CheckAssets, "check-assets", false, "ask whether the pictures, scripts, style sheets and other files are there that pages are made of: by HEAD, as politely as for pages")
	flags.BoolVar(&o.CheckOthers, "check-external", false, "ask whether the pages of other sites are there that pages lead to, in the same way; they are not followed")
	flags.IntVar(&o.MaxDepth, "max-depth", 0, "follow links so many steps from a seed, 0: any number")

	flags.Int64Var(&o.MaxPages, "max-pages", 0, "stop when the store holds so many pages, 0: never")
	flags.DurationVar(&f.maxTime, "max-time", 0, "stop this run after so long, 0: never")
	flags.Var(&f.maxBytes, "max-bytes", "stop this run after fetching so much, 0: never")
	flags.Int64Var(&o.HostBudget.Pages, "max-host-pages", 0, "fetch so many pages and files from a host at most, 0: any number")
	flags.Var(&f.maxHostBytes, "max-host-bytes", "fetch so much from a host at most, 0: any amount")

	flags.IntVar(&o.Parallel, "parallel", o.Parallel, "pages worked on at once; 128 if not given and the store is on a server")
	flags.IntVar(&o.Connections, "connections", o.Connections, "URLs under way at once, of which most wait for an answer; three quarters of them at most for hosts that are slow or not known")
	flags.IntVar(&o.PerHost, "per-host", o.PerHost, "requests at once to one host")
	flags.IntVar(&o.PerIP, "per-ip", o.PerIP, "requests at once to an address that several hosts share, 0: any number")
	flags.DurationVar(&o.Delay, "delay", o.Delay, "least time between two requests to one host, more if it answers slowly; 0: none; a folder needs none")
	flags.DurationVar(&o.MaxDelay, "max-delay", o.MaxDelay, "longest delay that robots.txt or slow answers can ask for, 0: any")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "longest time for one request and its answer")
	flags.IntVar(&o.Retries, "retries", o.Retries, "further tries after a problem that may pass")
	flags.DurationVar(&o.Grace, "grace", o.Grace, "time for what is in flight when the crawl is stopped, and for the index of --feed to take the rest")
	flags.Var(&f.maxSize, "max-size", "largest page; of a larger one nothing is judged")
	f.memory = addMemoryFlag(flags)
	flags.StringVar(&o.UserAgent, "user-agent", o.UserAgent, "what to call ourselves")
	flags.StringVar(&f.contact, "contact", "", "where owners of sites can reach you, a URL or an email address; sent with --user-agent")
	flags.BoolVar(&o.IgnoreNoFollow, "ignore-nofollow", false, "follow the links of pages that ask crawlers to follow none: for your own sites")
	flags.BoolVar(&o.IgnoreRobots, "ignore-robots", false, "do not ask robots.txt: for your own sites")
	f.allowPrivate = addPrivateFlag(flags)

	flags.StringVar(&f.metrics, "metrics", "", "serve Prometheus metrics and profiles at this address; a port alone is one of loopback")
	flags.StringVar(&f.view, "view", "", "show the crawl and its store to a browser, as skink view does; --view=ADDR at another address")
	flags.Lookup("view").NoOptDefVal = viewAddress
	flags.StringVar(&f.logFormat, "log-format", "text", "how to say how it goes: text or json, a line each")
	flags.BoolVar(&f.logURLs, "log-urls", false, "with --log-format json, a line for each URL: how it was answered and judged")
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
		return usagef("the seeds hold no URL: try one, such as https://example.org/")
	}
	if err := outsideFolders(*f.store, opt.Seeds.Folders); err != nil {
		return err
	}
	place := aboutToOpen(*f.store)
	s, err := openStore(ctx, *f.store, len(args) > 0, 16+opt.Crawl.Parallel)
	if err != nil {
		if len(args) == 0 && errors.Is(err, store.ErrNotExist) {
			return usagef("no seeds, and no crawl to resume in %s: name a URL, a file of URLs, or a folder", withoutPassword(*f.store))
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
		return usagef("--from judges what an archive holds, and fetches nothing: leave the seeds out")
	case f.again.retry != "" || f.again.recrawl != "":
		return usagef("--from judges what an archive holds, and asks no server again: leave --retry and --recrawl out")
	case f.learning.given() != "":
		return usagef("--from judges all that an archive holds, and fetches nothing that could be spared: leave %s out", f.learning.given())
	case f.archive.dir != "":
		return usagef("--from and --warc: an archive needs no second one: leave --warc out")
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
		return opt, args, usagef("--pictures adds to --markdown: give both")
	}
	_, err = session.RuleOf(opt.Wanted.Settings)
	return opt, args, err
}

// newScope returns the scope of the flags.
func (f *crawlFlags) newScope() (*crawler.Scope, error) {
	scope, err := crawler.NewScope(f.scope, f.include, f.exclude)
	if pattern, ok := errors.AsType[*crawler.PatternError](err); ok {
		return nil, usagef("--%s %q is no regular expression: %w: the syntax is that of https://go.dev/s/re2syntax", pattern.List, pattern.Pattern, pattern.Err)
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
		return usagef("--log-urls adds to --log-format json: give both, and no --quiet")
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
		return usagef("--user-agent is empty: servers want to know who asks: leave it out, or name a contact")
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
		return "", usagef("--user-agent %q: a header takes printable ASCII only", agent)
	case f.contact == "":
		return agent, nil
	case !printable(f.contact) || strings.ContainsAny(f.contact, "() ") || !strings.Contains(f.contact, "@") && !strings.Contains(f.contact, "://"):
		return "", usagef("--contact %q: try a URL, such as https://example.org/crawler, or an email address", f.contact)
	}
	return agent + " (+" + f.contact + ")", nil
}
