package cli

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/memory"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/store/postgres"
	"skink/view"
)

var crawlCommand = command{
	name:  "crawl",
	args:  "[flags] [SEED...]",
	short: "crawl sites and find duplicate pages",
	setup: func(flags *pflag.FlagSet) runFunc { return newCrawlFlags(flags).run },
	rules: slices.Concat(ruleRules, []flagRule{
		{"from", excludes, "retry,recrawl,warc,requisites", "pages are read from an archive instead of being fetched"},
		{"from", ignores, "learn,budget,sitemaps,scope,include,exclude,check-assets,check-external,render,insecure,crawl-log,max-depth,max-pages,max-time,max-bytes,max-host-pages,max-host-bytes,max-rate,max-host-rate", "pages are read from an archive instead of being fetched"},
		{"from", excludes, "feed", "after the run, write the pages with skink export"},
		{"requisites,screenshots,warc-info,warc-refers", needs, "warc", ""},
		{"metrics-host", needs, "metrics", ""},
		{"images", modifies, "markdown", ""},
		{"log-urls", needs, "log-format=json", ""},
		{"log-urls", excludes, "quiet", ""},
		{"recrawl-min,recrawl-max", modifies, "recrawl=due", ""},
		{"forever", needs, "recrawl=due", ""},
		{"forever", excludes, "retry,max-time,max-bytes,from", "a crawl that stays has no end"},
	}),
}

type crawlFlags struct {
	opt    session.Options // options as set by the flags; settle completes them
	store  *string
	rule   *ruleFlags
	memory *int64

	audit            bool
	scope            string
	include, exclude *list
	prefer           *list
	contact          string
	revisits         bool // whether the archive refers to equal responses instead of storing them again
	proxy            *proxyFlags
	from             []string
	patience         time.Duration
	metrics, view    address
	logFormat        string
	quiet            bool
}

const noLimit = "0 or more; 0 means no limit"

func newCrawlFlags(flags *pflag.FlagSet) *crawlFlags {
	f := &crawlFlags{opt: session.Defaults(), scope: crawler.ScopeHost, logFormat: "text"}
	f.include, f.exclude, f.prefer = expressions(new([]*regexp.Regexp)), expressions(new([]*regexp.Regexp)), expressions(new([]*regexp.Regexp))
	o := &f.opt.Crawl
	f.store = addStoreFlag(flags)
	f.patience = session.ClaimsLast
	flags.Var(lasting(&f.patience, 1, "longer than 0, such as 2m"), "store-patience", "if a database server does not respond, try again for this long before the crawl stops")
	flags.StringVar(&o.Worker, "worker", "", "`NAME` name of this worker; workers that share a store need different names (default: machine name and process ID)")
	flags.BoolVar(&f.opt.Add, "add", false, "add the seeds to a store that contains a finished crawl")
	addBackFlags(flags, &f.opt)
	flags.BoolVar(&f.opt.Forever, "forever", false, "with --recrawl due: when nothing is left to fetch, sleep until a page is due")
	f.rule = addRuleFlags(flags)
	flags.BoolVar(&f.audit, "audit", false, "fetch everything a site audit needs: sets --budget off, --links on and --check-assets, and also checks #fragments in links")
	flags.Var(onOff{&f.rule.links}, "links", "store the links of pages, so that reports can list the pages that link to a URL")
	f.rule.addDocumentsFlag(flags, false)
	flags.Var(onOff{&o.Sitemaps}, "sitemaps", "read the sitemaps of each host whose home page is a seed, and crawl the URLs in them")
	flags.Var(onOff{&f.opt.Learn}, "learn", "learn which URL patterns of a site return texts that are already known")
	flags.Var(onOff{&f.opt.Budget}, "budget", "postpone URLs of patterns that keep returning duplicates; off fetches all URLs, including those postponed earlier")
	flags.Var(oneOf(&f.rule.onDuplicate, session.Tag, session.Skip), "on-duplicate", "store the text of each duplicate and follow its links (tag), or store only a record of the duplicate (skip)")
	flags.Var(f.prefer, "prefer", "`REGEXP` among duplicates, prefer the page whose URL matches REGEXP (repeatable, most preferred first; default: order of the seeds)")
	flags.BoolVar(&f.rule.markdown, "markdown", false, "also store the main text of each page as Markdown; use this flag when you create the store")
	flags.BoolVar(&f.rule.images, "images", false, "with --markdown: keep the images that are part of the text")
	flags.StringVar(&f.opt.Feed, "feed", "", "`FILE` write unique and thin pages to this file, search index or standard output (-) during the crawl, or to s3://BUCKET/KEY at its end")
	isOutput(flags, "feed", fileOutput, "")

	kept := &f.opt.Archive
	flags.StringVar(&kept.Dir, "warc", "", "`DIR` store all responses in a web archive (WARC files) in this folder")
	isOutput(flags, "warc", sharedFolder, "")
	flags.Var(size(&kept.Size, 1, wantSize), "warc-size", "with --warc: start a new file when the current file reaches this size")
	flags.StringArrayVar(&kept.Refers, "warc-refers", nil, "`DIR` with --warc: refer to the responses in the .warc.gz files of this folder, too, instead of storing them again (repeatable)")
	f.revisits = true
	flags.Var(onOff{&f.revisits}, "warc-revisits", "with --warc: store equal responses once, and refer to the first (on), or store each in full (off)")
	flags.Var(&list{kind: "stringArray", add: kept.AddInfo}, "warc-info", "`NAME=VALUE` with --warc: write this field about the crawl into each file, such as operator=NAME (repeatable)")
	flags.BoolVar(&o.Requisites, "requisites", false, "with --warc: also fetch and store the style sheets, scripts, images and fonts that a browser needs to show the pages")
	flags.BoolVar(&o.Screenshots, "screenshots", false, "with --warc and --render: also store a picture of each page that a browser renders")
	o.HostBudget.Requisites = 1 << 30
	flags.Var(size(&o.HostBudget.Requisites, 0, wantSize), "max-host-requisites", "with --requisites: maximum total size of style sheets, scripts, images and fonts from each host; 0 means no limit")
	flags.StringArrayVar(&f.from, "from", nil, "`PATH` read pages from this web archive, or from all archives in this folder, instead of fetching them (repeatable)")

	flags.Var(oneOf(&f.scope, crawler.ScopeHost, crawler.ScopeDomain, crawler.ScopePrefix, crawler.ScopeAny), "scope", "follow links to the host of a seed (host), to its domain (domain), to URLs below its folder (prefix), or to any URL (any)")
	flags.Var(f.include, "include", "`REGEXP` follow only links whose URL matches this regular expression (repeatable)")
	flags.Var(f.exclude, "exclude", "`REGEXP` do not fetch or check URLs that match this regular expression (repeatable)")
	flags.BoolVar(&o.ObeyNoFollow, "obey-nofollow", false, "do not follow links with rel=nofollow")
	flags.BoolVar(&o.CheckAssets, "check-assets", false, "send HEAD requests to check that the images, scripts, style sheets and other files of pages exist, and fetch the canonical URLs of pages")
	flags.BoolVar(&o.CheckOthers, "check-external", false, "send HEAD requests to check that links to other sites work")
	flags.Var(oneOf(&o.Render, crawler.RenderOff, crawler.RenderAuto, crawler.RenderAlways), "render", "run page scripts in Chromium or Chrome: never (off), only for pages that need scripts (auto), or always")
	flags.Var(whole(&o.MaxDepth, 0, noLimit), "max-depth", "do not fetch pages that are more than this many links away from a seed; 0, the default, means no limit")

	flags.Var(whole(&o.MaxPages, 0, noLimit), "max-pages", "stop when the store contains this many pages; 0, the default, means no limit")
	flags.Var(lasting(&f.opt.MaxTime, 0, noLimit), "max-time", "stop this run after this much time; 0, the default, means no limit")
	flags.Var(size(&o.MaxBytes, 0, wantSize), "max-bytes", "stop this run when it has fetched this much data; 0, the default, means no limit")
	flags.Var(whole(&o.HostBudget.Pages, 0, noLimit), "max-host-pages", "fetch at most this many pages and files from each host; 0, the default, means no limit")
	flags.Var(size(&o.HostBudget.Bytes, 0, wantSize), "max-host-bytes", "fetch at most this much data from each host; 0, the default, means no limit")

	flags.Var(rate{&o.Rate}, "max-rate", "send at most N requests in each period, such as 20000/24h, spread over it, together with all workers; 0, the default, means no limit")
	flags.Var(rate{&o.HostRate}, "max-host-rate", "the same for each host")

	flags.Var(whole(&o.Parallel, 1, "1 or more"), "parallel", "process at most this many pages at the same time; if the store is on a server, the default is 128")
	flags.Var(whole(&o.Connections, 1, "1 or more"), "connections", "fetch at most this many URLs at the same time, from all hosts together")
	flags.Var(whole(&o.PerHost, 1, "1 or more"), "per-host", "send at most this many requests to a host at the same time")
	flags.Var(whole(&o.PerIP, 0, noLimit), "per-ip", "send at most this many requests at the same time to an IP address that several hosts share; 0 means no limit")
	flags.Var(lasting(&o.Delay, 0, "0 or more"), "delay", "wait at least this long between requests to a host, and longer if the host responds slowly")
	flags.Var(lasting(&o.MaxDelay, 0, noLimit), "max-delay", "wait at most this long between requests to a host, even if robots.txt or slow responses call for more; 0 means no limit")
	flags.Var(lasting(&o.Timeout, 1, "longer than 0, such as 30s"), "timeout", "cancel a request whose response is not complete after this time")
	flags.Var(whole(&o.Retries, 0, "0 or more"), "retries", "after a temporary error, repeat a request up to this many times")
	flags.Var(lasting(&o.Grace, 0, "0 or more"), "grace", "when the crawl is stopped, wait at most this long for requests in flight, and for a search index to accept the last pages")
	flags.Var(size(&o.MaxSize, 1, wantSize), "max-size", "do not read pages that are larger than this; they count as failed")
	flags.Var(size(&o.MaxFileSize, 1, wantSize), "max-file-size", "do not read images, style sheets, scripts, fonts, media and downloads that are larger than this (default: --max-size)")
	f.memory = addMemoryFlag(flags, memoryUsage)
	flags.StringVar(&o.UserAgent, "user-agent", o.UserAgent, "`TEXT` send this User-Agent header")
	f.proxy = addProxyFlags(flags, o)
	flags.Var(onOff{&o.Cookies}, "cookies", "keep the cookies of sites during the run, for sites that require them")
	flags.StringVar(&f.contact, "contact", "", "`CONTACT` add this URL or email address to the User-Agent header, so that site owners can reach you")
	flags.BoolVar(&o.IgnoreNoFollow, "ignore-nofollow", false, "follow links even if the page has a robots meta tag with nofollow; use this only for your own sites")
	flags.BoolVar(&o.IgnoreRobots, "ignore-robots", false, "do not read robots.txt; use this only for your own sites")
	addPrivateFlag(flags, o)

	flags.Var(&f.metrics, "metrics", "`ADDR` serve Prometheus metrics and profiles at this address; a port without a host means 127.0.0.1")
	flags.StringArrayVar(&f.opt.MetricsHosts, "metrics-host", nil, "`NAME` with --metrics: also answer requests for this host name, such as the name of a service (repeatable)")
	flags.Var(&f.view, "view", "`ADDR` show the running crawl in a browser, at this address, as skink view does")
	flags.Lookup("view").NoOptDefVal = viewAddress
	flags.Var(oneOf(&f.logFormat, "text", "json"), "log-format", "write the progress and the summary as text or as JSON lines")
	flags.BoolVar(&f.opt.LogURLs, "log-urls", false, "with --log-format json: also write a line for each URL, with its status and verdict")
	flags.String("crawl-log", "", "`FILE` append a line for each request to this file, in the format of the crawl.log of Heritrix")
	isOutput(flags, "crawl-log", fileOutput, "")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	return f
}

func (f *crawlFlags) run(ctx context.Context, con Console, args []string) error {
	opt, args, err := f.settle(args)
	if err != nil {
		return err
	}
	paceCollector(*f.memory/heapShare, *f.memory, crawlPercent)
	opt.Crawl.Worker = crawler.WorkerName(opt.Crawl.Worker)
	out := con.output(f.logFormat == "json", f.quiet)
	if out.Log != nil {
		out.Log = out.Log.With("worker", opt.Crawl.Worker, "run", time.Now().UTC().Format("20060102T150405Z"))
	}
	opt.FeedFile, opt.CrawlLog = con.files.Of("--feed"), con.files.Of("--crawl-log")
	if err := con.files.Input(args...); err != nil {
		return logged(out.Log, usageError{Err: err})
	}
	if len(f.from) > 0 {
		return logged(out.Log, interrupted(ctx, f.replay(ctx, out, opt, args)))
	}
	return logged(out.Log, interrupted(ctx, f.start(ctx, con, out, opt, args)))
}

func (f *crawlFlags) start(ctx context.Context, con Console, out session.Output, opt session.Options, args []string) error {
	var err error
	opt.Seeds, err = await(ctx, func() (session.Seeds, error) { return parseSeeds(args, con.In) })
	if err != nil {
		return err
	}
	if len(args) > 0 && len(opt.Seeds.Items()) == 0 {
		return usagef("the seeds contain no URL: specify at least one, such as https://example.org/")
	}
	if err := outsideFolders(*f.store, opt.Seeds.Folders); err != nil {
		return err
	}
	discard := discarder(*f.store)
	s, err := openStore(ctx, *f.store, len(args)+len(opt.Own) > 0, 16+opt.Crawl.Parallel)
	if err != nil {
		if len(args)+len(opt.Own) == 0 && errors.Is(err, store.ErrNotExist) {
			return usagef("no seeds, and no crawl to continue in %s: specify a URL, a file of URLs, or a folder", *f.store)
		}
		return err
	}
	if server, is := s.Store.(*postgres.Store); is {
		server.Watch(f.patience, out.Say)
	}
	opt.Reload = func() (session.Options, func() error, error) { return f.reread(con.again) }
	sum, err := f.crawl(ctx, out, opt, s)
	if err = opt.Stopped(errors.Join(err, s.Close())); err != nil && !sum.Began {
		err = errors.Join(err, discard())
	}
	if err == nil && sum.End.Interrupted && !(opt.Forever && sum.End.Ordered) { // an order is the usual end of a crawl that stays
		return exitError(exitFailed)
	}
	return err
}

// crawl crawls into the open store s, which other processes can read while it runs.
func (f *crawlFlags) crawl(ctx context.Context, out session.Output, opt session.Options, s *writeStore) (sum session.Summary, err error) {
	stop := serve(out, s)
	defer func() { err = errors.Join(err, stop()) }()
	if _, _, err = session.Agree(ctx, s, s.Name, opt.Wanted); err == nil { // a store that refuses the configuration keeps its own
		err = configOf(f.rule.flags).keepBeside(*f.store)
	}
	if err != nil {
		return sum, err
	}
	var release func()
	out.Asked, release = heard(askSignals...)
	defer release()
	if hangsUp() {
		out.Reload, release = heard(syscall.SIGHUP)
		defer release()
		reloads.Store(true)
		defer reloads.Store(false)
	}
	return session.Run(ctx, &s.NamedStore, opt, out)
}

// reread returns the options of the command as the configuration file is now, and a function that copies the file
// into the folder of the store.
func (f *crawlFlags) reread(again func(func(*pflag.FlagSet) runFunc) error) (opt session.Options, keep func() error, err error) {
	var now *crawlFlags
	err = again(func(flags *pflag.FlagSet) runFunc {
		now = newCrawlFlags(flags)
		return now.run
	})
	config := configOf(now.rule.flags)
	if err == nil && config.file.Name == "" {
		err = usagef("there is no configuration file: put %s into the folder of the store", configFile)
	}
	if err == nil {
		opt, _, err = now.settle(now.rule.flags.Args())
	}
	return opt, func() error { return config.keepBeside(*f.store) }, err
}

// serve lets other processes read the open store of a crawl until stop is called. It first prints
// what the store has lost.
func serve(out session.Output, s *writeStore) (stop func() error) {
	if text := lossText(s.loss()); text != "" {
		out.Say("%s", text)
	}
	return s.answer("skink crawl", func(err error) { out.Say("%v", err) })
}

// replay runs skink crawl --from, which reads pages from web archives instead of fetching them.
func (f *crawlFlags) replay(ctx context.Context, out session.Output, opt session.Options, args []string) (err error) {
	if len(args) > 0 {
		return usagef("--from reads pages from an archive instead of fetching them: omit the seeds")
	}
	var files []corpus.Archive
	var passed report.Passed
	for _, path := range f.from {
		of, err := corpus.Archives(path, passed.Add)
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
	stop := serve(out, s)
	defer func() { err = keepFirst(err, stop()) }()
	return session.Replay(ctx, &s.NamedStore, opt, out, files, &passed)
}

// parallelShared is the number of pages that are processed at once if the store is on a database
// server. It is high because most pages are waiting for the server, and because requests waiting at
// the same time are sent together.
const parallelShared = 128

// settle checks the flags and returns the complete options of a run. The result seeds is args
// without the value of --retry.
func (f *crawlFlags) settle(args []string) (opt session.Options, seeds []string, err error) {
	if f.audit {
		f.preset()
	}
	opt = f.opt
	o := &opt.Crawl
	o.Bodies = memory.Divide(*f.memory).Bodies
	if isShared(*f.store) && !f.rule.flags.Changed("parallel") {
		o.Parallel = parallelShared
	}
	o.Hosts, opt.Own = configOf(f.rule.flags).file.Hosts, configOf(f.rule.flags).file.Seeds
	if o.Screenshots && !o.Renders() {
		return opt, args, usagef("--screenshots requires --render auto or --render always")
	}
	if !o.Requisites {
		o.HostBudget.Requisites = 0
	}
	opt.Memory, opt.Wanted, opt.Prefer = *f.memory, f.rule.wanted(), f.prefer.words
	opt.Wanted.Configured = configOf(f.rule.flags).file.Name != ""
	opt.Wanted.Selectors = map[string]map[string][]string{}
	for _, h := range o.Hosts {
		if len(h.Select) > 0 {
			opt.Wanted.Selectors[h.Pattern] = h.Select
		}
	}
	opt.Metrics, opt.Build, opt.DelayChosen, opt.Resume = f.metrics.full, readBuild(), f.rule.flags.Changed("delay"), f.resume
	opt.Audit, opt.Archive.Whole = f.audit, !f.revisits
	if f.view.full != "" {
		opt.View = func(rule dedup.Rule) view.Options { return viewOf(f.view.full, rule, f.rule.flags) }
	}
	if o.UserAgent, err = f.agent(); err != nil {
		return opt, args, err
	}
	if err = f.proxy.apply(o); err != nil {
		return opt, args, err
	}
	if o.Scope, err = crawler.NewScope(f.scope, f.include.words, f.exclude.words); err != nil {
		return opt, args, err
	}
	o.Scope.Obey(o.Hosts)
	if frontier.HasScheme(opt.Feed) {
		if opt.Index, err = credentials(); err != nil {
			return opt, args, err
		}
	}
	if args, err = settleBack(&opt.Again, args); err != nil {
		return opt, args, err
	}
	opt.Wanted.Recrawl = opt.Again.Recrawl != ""
	_, err = session.RuleOf(opt.Wanted.Settings)
	return opt, args, err
}

// preset applies --audit: it sets the flags that an audit needs, except those on the command line.
func (f *crawlFlags) preset() {
	f.opt.Anchors = true
	for name, value := range map[string]string{"budget": "off", "links": "on", "check-assets": "true"} {
		if !typed(f.rule.flags, name) {
			_ = f.rule.flags.Lookup(name).Value.Set(value) // the value is valid
		}
	}
}

// agent returns the User-Agent header to send, including the value of --contact. It returns an
// error if either text is not allowed in a header.
func (f *crawlFlags) agent() (string, error) {
	agent := f.opt.Crawl.UserAgent
	if err := checkAgent(agent); err != nil {
		return "", usagef("--user-agent %q: %w", agent, err)
	}
	switch {
	case f.contact == "":
		return agent, nil
	case !printable(f.contact) || strings.ContainsAny(f.contact, "() ") || !strings.Contains(f.contact, "@") && !strings.Contains(f.contact, "://"):
		return "", usagef("--contact %q: must be a URL, such as https://example.org/crawler, or an email address", f.contact)
	}
	return agent + " (+" + f.contact + ")", nil
}

func checkAgent(agent string) error {
	switch {
	case agent == "":
		return errors.New("is empty: omit the flag, or give the text of the header")
	case !printable(agent):
		return errors.New("use printable ASCII characters only")
	}
	return nil
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
