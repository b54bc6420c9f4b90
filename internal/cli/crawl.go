package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/corpus"
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
	opt      session.Options // see settle
	store    *string
	rule     *ruleFlags
	learning *learnFlags
	again    *backFlags
	memory   *int64

	scope            string
	include, exclude expressions
	prefer           expressions
	private          *privateHosts
	contact          string
	from             []string
	metrics, view    address
	logFormat        string
	quiet            bool
}

// noLimit is what to try instead of a limit below 0.
const noLimit = "0 for no limit"

func setupCrawl(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	return newCrawlFlags(flags).run
}

func newCrawlFlags(flags *pflag.FlagSet) *crawlFlags {
	f := &crawlFlags{opt: session.Defaults(), scope: crawler.ScopeHost, logFormat: "text"}
	o := &f.opt.Crawl
	f.store = addStoreFlag(flags)
	flags.StringVar(&o.Worker, "worker", "", "name of this worker among those that share the store; two that run at once need two names (default: its machine and process)")
	flags.BoolVar(&f.opt.Add, "add", false, "add these seeds to a store that holds a finished crawl of others")
	f.again = addBackFlags(flags, &f.opt.GoneAfter)
	f.rule = addRuleFlags(flags)
	f.rule.addLinksFlag(flags)
	f.learning = addLearnFlags(flags)
	f.rule.addOnDuplicateFlag(flags)
	flags.Var(&f.prefer, "prefer", "let pages whose URL matches this regular expression lead their copies (may be repeated; the first one goes first; default: the order of the seeds); a store keeps it")
	f.rule.addMarkdownFlags()
	flags.StringVar(&f.opt.Feed, "feed", "", "write unique and thin pages to FILE as they come, or send them to an index of Elasticsearch or OpenSearch, https://HOST:9200/INDEX (see skink export), or print with - those that this run judges: skink export prints those of all runs")

	kept := &f.opt.Archive
	flags.StringVar(&kept.Dir, "warc", "", "keep every answer that comes, as it came, in WARC files in this folder")
	flags.Var(size(&kept.Size, 1, trySize), "warc-size", "with --warc, begin another file after so much")
	flags.Var(oneOf(&kept.Digest, warc.SHA256, warc.SHA1), "warc-digest", "with --warc, how digests are made: sha256 or sha1")
	flags.StringArrayVar(&f.from, "from", nil, "judge the pages of this web archive, or of those in this folder, and fetch nothing (may be repeated)")

	flags.Var(oneOf(&f.scope, crawler.ScopeHost, crawler.ScopeDomain, crawler.ScopePrefix, crawler.ScopeAny), "scope", "what to follow: host, domain, prefix (the seed's folder) or any")
	flags.Var(&f.include, "include", "follow only URLs that match this regular expression (may be repeated)")
	flags.Var(&f.exclude, "exclude", "follow and check no URL that matches this regular expression (may be repeated)")
	flags.BoolVar(&o.ObeyNoFollow, "obey-nofollow", false, "follow no link that says rel=nofollow; pages that say so of all their links are obeyed without it, see --ignore-nofollow")
	flags.BoolVar(&o.CheckAssets, "check-assets", false, "ask whether the pictures, scripts, style sheets and other files are there that pages are made of: by HEAD, as politely as for pages")
	flags.BoolVar(&o.CheckOthers, "check-external", false, "ask whether the pages of other sites are there that pages lead to, in the same way; they are not followed")
	flags.Var(whole(&o.MaxDepth, 0, noLimit), "max-depth", "follow links so many steps from a seed, 0: any number")

	flags.Var(whole(&o.MaxPages, 0, noLimit), "max-pages", "stop when the store holds so many pages, 0: never")
	flags.Var(lasting(&f.opt.MaxTime, 0, noLimit), "max-time", "stop this run after so long, 0: never")
	flags.Var(size(&o.MaxBytes, 0, trySize), "max-bytes", "stop this run after fetching so much, 0: never")
	flags.Var(whole(&o.HostBudget.Pages, 0, noLimit), "max-host-pages", "fetch so many pages and files from a host at most, 0: any number")
	flags.Var(size(&o.HostBudget.Bytes, 0, trySize), "max-host-bytes", "fetch so much from a host at most, 0: any amount")

	flags.Var(whole(&o.Parallel, 1, "1 or more"), "parallel", "pages worked on at once; 128 if not given and the store is on a server")
	flags.Var(whole(&o.Connections, 1, "1 or more"), "connections", "URLs under way at once, of which most wait for an answer; three quarters of them at most for hosts that are slow or not known")
	flags.Var(whole(&o.PerHost, 1, "1 or more"), "per-host", "requests at once to one host")
	flags.Var(whole(&o.PerIP, 0, noLimit), "per-ip", "requests at once to an address that several hosts share, 0: any number")
	flags.Var(lasting(&o.Delay, 0, "0 or more"), "delay", "least time between two requests to one host, more if it answers slowly; 0: none; a folder needs none")
	flags.Var(lasting(&o.MaxDelay, 0, noLimit), "max-delay", "longest delay that robots.txt or slow answers can ask for, 0: any")
	flags.Var(lasting(&o.Timeout, 1, "30s"), "timeout", "longest time for one request and its answer")
	flags.Var(whole(&o.Retries, 0, "0 for none"), "retries", "further tries after a problem that may pass")
	flags.Var(lasting(&o.Grace, 0, "0 for none"), "grace", "time for what is in flight when the crawl is stopped, and for the index of --feed to take the rest")
	flags.Var(size(&o.MaxSize, 1, trySize), "max-size", "largest page; of a larger one nothing is judged")
	f.memory = addMemoryFlag(flags)
	flags.StringVar(&o.UserAgent, "user-agent", o.UserAgent, "what to call ourselves")
	flags.StringVar(&f.contact, "contact", "", "where owners of sites can reach you, a URL or an email address; sent with --user-agent")
	flags.BoolVar(&o.IgnoreNoFollow, "ignore-nofollow", false, "follow the links of pages that ask crawlers to follow none: for your own sites")
	flags.BoolVar(&o.IgnoreRobots, "ignore-robots", false, "do not ask robots.txt: for your own sites")
	f.private = addPrivateFlag(flags)

	flags.Var(&f.metrics, "metrics", "serve Prometheus metrics and profiles at this address; a port alone is one of loopback")
	flags.Var(&f.view, "view", "show the crawl and its store to a browser, as skink view does; --view=ADDR at another address")
	flags.Lookup("view").NoOptDefVal = viewAddress
	flags.Lookup("max-time").DefValue = "0" // as of other limits
	flags.Var(oneOf(&f.logFormat, "text", "json"), "log-format", "how to say how it goes: text or json, a line each")
	flags.BoolVar(&f.opt.LogURLs, "log-urls", false, "with --log-format json, a line for each URL: how it was answered and judged")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	return f
}

func (f *crawlFlags) run(ctx context.Context, con Console, args []string) error {
	opt, args, err := f.settle(args)
	if err != nil {
		return err
	}
	limitMemory(*f.memory)
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
	if opt.Feed != "" && opt.Feed != "-" && !frontier.HasScheme(opt.Feed) {
		if err := mayWrite("--feed", opt.Feed, nil); err != nil {
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
	case opt.Archive.Dir != "":
		return usagef("--from and --warc: an archive needs no second one: leave --warc out")
	case opt.Feed != "":
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

// settle completes the options of a run. It returns the arguments that are seeds.
func (f *crawlFlags) settle(args []string) (opt session.Options, seeds []string, err error) {
	opt = f.opt
	o := &opt.Crawl
	o.Bodies = memory.Divide(*f.memory).Bodies
	o.Sitemaps = bool(f.learning.sitemaps)
	if isShared(*f.store) && !f.rule.flags.Changed("parallel") {
		o.Parallel = parallelShared
	}
	f.private.allow(o)
	opt.Memory, opt.Wanted, opt.Prefer = *f.memory, f.rule.wanted(), f.prefer.list
	opt.Learn, opt.Budget = bool(f.learning.learn), bool(f.learning.budget)
	opt.Metrics, opt.Build, opt.DelayChosen, opt.Resume = f.metrics.full, readBuild(), f.rule.flags.Changed("delay"), f.resume
	if f.view.full != "" {
		opt.View = func(rule dedup.Rule) view.Options { return viewOf(f.view.full, rule) }
	}
	switch {
	case opt.LogURLs && (f.logFormat != "json" || f.quiet):
		return opt, args, usagef("--log-urls adds to --log-format json: give both, and no --quiet")
	case f.rule.pictures && !f.rule.markdown:
		return opt, args, usagef("--pictures adds to --markdown: give both")
	}
	if dir := opt.Archive.Dir; dir != "" {
		if err := mayWrite("--warc", filepath.Join(dir, "a.warc.gz"), nil); err != nil {
			return opt, args, err
		}
	}
	if o.UserAgent, err = f.agent(); err != nil {
		return opt, args, err
	}
	if o.Scope, err = crawler.NewScope(f.scope, f.include.list, f.exclude.list); err != nil {
		return opt, args, err
	}
	if frontier.HasScheme(opt.Feed) {
		if opt.Index, err = credentials(); err != nil {
			return opt, args, err
		}
	}
	if opt.Again, args, err = f.again.heed(args); err != nil {
		return opt, args, err
	}
	_, err = session.RuleOf(opt.Wanted.Settings)
	return opt, args, err
}

// agent returns the user agent with the contact. It fails for text that cannot be sent in a header.
func (f *crawlFlags) agent() (string, error) {
	printable := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	}
	agent := f.opt.Crawl.UserAgent
	switch {
	case agent == "":
		return "", usagef("--user-agent is empty: servers want to know who asks: leave it out, or name a contact")
	case !printable(agent):
		return "", usagef("--user-agent %q: a header takes printable ASCII only", agent)
	case f.contact == "":
		return agent, nil
	case !printable(f.contact) || strings.ContainsAny(f.contact, "() ") || !strings.Contains(f.contact, "@") && !strings.Contains(f.contact, "://"):
		return "", usagef("--contact %q: try a URL, such as https://example.org/crawler, or an email address", f.contact)
	}
	return agent + " (+" + f.contact + ")", nil
}
