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
	opt      session.Options // the options as the flags set them; settle completes them
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
	cookies          string
	sign             *signFlags
	proxy            *proxyFlags
	from             []string
	metrics, view    address
	logFormat        string
	quiet            bool
}

// noLimit is the hint in the error of a flag whose limit was set below 0.
const noLimit = "0 for no limit"

func setupCrawl(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	return newCrawlFlags(flags).run
}

func newCrawlFlags(flags *pflag.FlagSet) *crawlFlags {
	f := &crawlFlags{opt: session.Defaults(), scope: crawler.ScopeHost, logFormat: "text"}
	o := &f.opt.Crawl
	f.store = addStoreFlag(flags)
	flags.StringVar(&o.Worker, "worker", "", "`NAME` name of this worker; workers that share a store need different names (default: machine and process)")
	flags.BoolVar(&f.opt.Add, "add", false, "add these seeds to a store that holds a finished crawl")
	f.again = addBackFlags(flags, &f.opt.GoneAfter)
	f.rule = addRuleFlags(flags)
	f.rule.addLinksFlag(flags)
	f.rule.addDocumentsFlag(flags, false)
	f.learning = addLearnFlags(flags)
	f.rule.addOnDuplicateFlag(flags)
	flags.Var(&f.prefer, "prefer", "`REGEXP` pages whose URL matches lead their duplicates (repeatable, best first; default: the order of seeds)")
	f.rule.addMarkdownFlags()
	flags.StringVar(&f.opt.Feed, "feed", "", "`FILE` write unique and thin pages as they come: to a file, to - (this run only), or to the URL of an index; or at the end of the run to s3://BUCKET/KEY")

	kept := &f.opt.Archive
	flags.StringVar(&kept.Dir, "warc", "", "`DIR` keep every answer in WARC files in this folder")
	flags.Var(size(&kept.Size, 1, trySize), "warc-size", "with --warc: size at which the next file begins")
	flags.Var(oneOf(&kept.Digest, warc.SHA256, warc.SHA1), "warc-digest", "with --warc: algorithm of the digests")
	flags.StringArrayVar(&f.from, "from", nil, "`PATH` judge the pages of this web archive, or of a folder of archives, and fetch nothing (repeatable)")

	flags.Var(oneOf(&f.scope, crawler.ScopeHost, crawler.ScopeDomain, crawler.ScopePrefix, crawler.ScopeAny), "scope", "follow links to the same host, the same domain, below the seed's folder, or anywhere")
	flags.Var(&f.include, "include", "`REGEXP` follow only URLs that match (repeatable)")
	flags.Var(&f.exclude, "exclude", "`REGEXP` do not fetch or check URLs that match (repeatable)")
	flags.BoolVar(&o.ObeyNoFollow, "obey-nofollow", false, "do not follow links with rel=nofollow")
	flags.BoolVar(&o.CheckAssets, "check-assets", false, "check with HEAD whether pictures, scripts, style sheets and other files of pages exist")
	flags.BoolVar(&o.CheckOthers, "check-external", false, "check with HEAD whether linked pages of other sites exist")
	flags.Var(oneOf(&o.Render, crawler.RenderOff, crawler.RenderAuto, crawler.RenderAlways), "render", "run the scripts of pages in a Chromium of this machine: never, of pages that need it, or of all pages")
	flags.Var(whole(&o.MaxDepth, 0, noLimit), "max-depth", "follow at most this many links from a seed, 0: no limit")

	flags.Var(whole(&o.MaxPages, 0, noLimit), "max-pages", "stop when the store holds this many pages, 0: no limit")
	flags.Var(lasting(&f.opt.MaxTime, 0, noLimit), "max-time", "stop this run after this time, 0: no limit")
	flags.Var(size(&o.MaxBytes, 0, trySize), "max-bytes", "stop this run after fetching this much, 0: no limit")
	flags.Var(whole(&o.HostBudget.Pages, 0, noLimit), "max-host-pages", "fetch at most this many pages and files from a host, 0: no limit")
	flags.Var(size(&o.HostBudget.Bytes, 0, trySize), "max-host-bytes", "fetch at most this much from a host, 0: no limit")

	flags.Var(whole(&o.Parallel, 1, "1 or more"), "parallel", "pages processed at once; 128 by default if the store is on a server")
	flags.Var(whole(&o.Connections, 1, "1 or more"), "connections", "URLs fetched at once, over all hosts")
	flags.Var(whole(&o.PerHost, 1, "1 or more"), "per-host", "requests at once to one host")
	flags.Var(whole(&o.PerIP, 0, noLimit), "per-ip", "requests at once to an IP address that several hosts share, 0: no limit")
	flags.Var(lasting(&o.Delay, 0, "0 or more"), "delay", "shortest time between two requests to one host; longer if it answers slowly")
	flags.Var(lasting(&o.MaxDelay, 0, noLimit), "max-delay", "longest delay that robots.txt or slow answers can cause, 0: no limit")
	flags.Var(lasting(&o.Timeout, 1, "30s"), "timeout", "longest time for one request and its answer")
	flags.Var(whole(&o.Retries, 0, "0 for none"), "retries", "further tries after a temporary error")
	flags.Var(lasting(&o.Grace, 0, "0 for none"), "grace", "when the crawl is stopped: time to finish requests, and to send the rest to an index")
	flags.Var(size(&o.MaxSize, 1, trySize), "max-size", "largest page that is judged")
	f.memory = addMemoryFlag(flags)
	flags.StringVar(&o.UserAgent, "user-agent", o.UserAgent, "`TEXT` User-Agent header")
	f.sign = addSignFlags(flags)
	f.proxy = addProxyFlags(flags)
	f.cookies = "off"
	flags.Var(oneOf(&f.cookies, "off", "run", "store"), "cookies", "keep cookies during the run, or in the store, for sites that show no page without them")
	flags.StringVar(&f.contact, "contact", "", "`CONTACT` URL or email address where site owners can reach you, sent with --user-agent")
	flags.BoolVar(&o.IgnoreNoFollow, "ignore-nofollow", false, "follow links of pages whose robots meta tag says nofollow; for your own sites")
	flags.BoolVar(&o.IgnoreRobots, "ignore-robots", false, "do not read robots.txt; for your own sites")
	f.private = addPrivateFlag(flags)

	flags.Var(&f.metrics, "metrics", "`ADDR` serve Prometheus metrics and profiles at this address; a port alone is on loopback")
	flags.Var(&f.view, "view", "`ADDR` show the crawl in a browser, as skink view does")
	flags.Lookup("view").NoOptDefVal = viewAddress
	flags.Lookup("max-time").DefValue = "0" // help shows 0, as for the other limits without a default, instead of "0s"
	flags.Var(oneOf(&f.logFormat, "text", "json"), "log-format", "format of progress and summary")
	flags.BoolVar(&f.opt.LogURLs, "log-urls", false, "with --log-format json: one line per URL, with answer and verdict")
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

// crawl crawls into the open store s. Other processes can read the store while the crawl runs.
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
	if s.folder != nil {
		if err := configOf(f.rule.flags).keepIn(*f.store); err != nil {
			return sum, err
		}
	}
	stop := s.answer("skink crawl", func(err error) { out.Say("%v", err) })
	asked, release := con.asked(stdinIsSeeds)
	defer release()
	out.Asked = asked
	sum, err = session.Run(ctx, &s.NamedStore, opt, out)
	return sum, errors.Join(err, stop())
}

// replay runs skink crawl --from, which reads pages from web archives instead of fetching them.
func (f *crawlFlags) replay(ctx context.Context, out session.Output, opt session.Options, args []string) (err error) {
	switch {
	case len(args) > 0:
		return usagef("--from fetches nothing: omit the seeds")
	case f.again.retry != "" || f.again.recrawl != "":
		return usagef("--from fetches nothing: omit --retry and --recrawl")
	case f.learning.given() != "":
		return usagef("--from fetches nothing: omit %s", f.learning.given())
	case opt.Archive.Dir != "":
		return usagef("--from reads an archive and writes none: omit --warc")
	case opt.Feed != "":
		return usagef("--from and --feed exclude each other: when the run has ended, skink export writes the pages")
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
	return session.Replay(ctx, &s.NamedStore, opt, out, files)
}

// parallelShared is the number of pages that are processed at once if the store is on a database
// server. It is high because most pages wait for the server, and because requests that wait at the
// same time are sent together.
const parallelShared = 128

// settle checks the flags and returns the complete options of a run. seeds are those of args that
// are seeds, and not a value of --retry.
func (f *crawlFlags) settle(args []string) (opt session.Options, seeds []string, err error) {
	opt = f.opt
	o := &opt.Crawl
	o.Bodies = memory.Divide(*f.memory).Bodies
	o.Sitemaps = bool(f.learning.sitemaps)
	if isShared(*f.store) && !f.rule.flags.Changed("parallel") {
		o.Parallel = parallelShared
	}
	f.private.allow(o)
	o.Hosts = configOf(f.rule.flags).hosts()
	opt.Memory, opt.Wanted, opt.Prefer = *f.memory, f.rule.wanted(), f.prefer.list
	opt.Learn, opt.Budget = bool(f.learning.learn), bool(f.learning.budget)
	opt.Metrics, opt.Build, opt.DelayChosen, opt.Resume = f.metrics.full, readBuild(), f.rule.flags.Changed("delay"), f.resume
	if f.view.full != "" {
		opt.View = func(rule dedup.Rule) view.Options { return viewOf(f.view.full, rule) }
	}
	switch {
	case opt.LogURLs && (f.logFormat != "json" || f.quiet):
		return opt, args, usagef("--log-urls needs --log-format json, without --quiet")
	case f.rule.pictures && !f.rule.markdown:
		return opt, args, usagef("--pictures needs --markdown: give both")
	}
	if dir := opt.Archive.Dir; dir != "" {
		if err := mayWrite("--warc", filepath.Join(dir, "a.warc.gz"), nil); err != nil {
			return opt, args, err
		}
	}
	if o.UserAgent, err = f.agent(); err != nil {
		return opt, args, err
	}
	if o.Signer, err = f.sign.signer(); err != nil {
		return opt, args, err
	}
	o.Cookies, opt.StoreCookies = f.cookies != "off", f.cookies == "store"
	if err = f.proxy.apply(o); err != nil {
		return opt, args, err
	}
	if o.Scope, err = crawler.NewScope(f.scope, f.include.list, f.exclude.list); err != nil {
		return opt, args, err
	}
	o.Scope.Obey(o.Hosts)
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

// agent returns the User-Agent header to send, which includes the value of --contact. It returns an
// error if either text cannot be sent in a header.
func (f *crawlFlags) agent() (string, error) {
	agent := f.opt.Crawl.UserAgent
	if err := checkAgent(agent); err != nil {
		return "", err
	}
	switch {
	case f.contact == "":
		return agent, nil
	case !printable(f.contact) || strings.ContainsAny(f.contact, "() ") || !strings.Contains(f.contact, "@") && !strings.Contains(f.contact, "://"):
		return "", usagef("--contact %q: try a URL, such as https://example.org/crawler, or an email address", f.contact)
	}
	return agent + " (+" + f.contact + ")", nil
}

// checkAgent returns an error if agent is empty or contains characters that cannot be sent in a
// header.
func checkAgent(agent string) error {
	switch {
	case agent == "":
		return usagef("--user-agent is empty: omit it, or name a contact")
	case !printable(agent):
		return usagef("--user-agent %q: use printable ASCII characters only", agent)
	}
	return nil
}

// printable reports whether a text consists of printable ASCII characters.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
