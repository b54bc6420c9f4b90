package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/internal/complete"
	"skink/internal/session"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

var reportCommand = command{
	name:  "report",
	args:  "[flags]",
	short: "print the duplicates in a store, or an audit of its sites",
	setup: setupReport,
	rules: slices.Concat(completeRules, []flagRule{
		{"changes", excludes, "about,fail-on,complete,format=csv,format=html,format=xlsx", ""},
		{"format=xlsx", needs, "about", "only an audit and its lists are written as a workbook"},
		{"format=xlsx", needs, "out", "the output is binary"},
		{"since", needs, "about,fail-on", "it compares the audits of two crawls"},
		{"segment", needs, "about,fail-on", "clusters of duplicates may reach beyond a segment"},
		{"since", excludes, "complete", "it compares findings that are based on the verdicts of the crawl"},
	}),
}

type reportFlags struct {
	store    *string
	form     *report.Options
	complete *completeFlags
	out      *outFlags
	changes  bool
	about    string
	failOn   string
	since    string
}

func setupReport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &reportFlags{store: addStoreFlag(flags), form: addFormFlags(flags, report.XLSX), complete: addCompleteFlags(flags), out: addOutFlags(flags)}
	flags.BoolVar(&f.changes, "changes", false, "print the pages that changed between visits, largest changes first")
	flags.StringVar(&f.about, "about", "", "`TOPIC` print the audit, a list or finding, all URLs (pages), totals (hosts, folders, segments, types, statuses, seeds), or a search (text:REGEX)")
	flags.String("segment", "", "`NAME` with --about or --fail-on: only the URLs of this segment, which the configuration file defines")
	flags.StringVar(&f.failOn, "fail-on", "", "`LIMITS` exit with code 4 if a limit is exceeded: NAME>NUMBER or NAME>SHARE%, such as 'duplicates>5%,broken>0'; with --since also 'new:broken>0'")
	flags.StringVar(&f.since, "since", "", "`CRAWL` compare the audit with the previous crawl (LAST), or with the last crawl before a date (2026-11-24) or more than 7 days ago (7d)")
	return f.run
}

func (f *reportFlags) run(ctx context.Context, con Console, _ []string) error {
	opt := *f.form
	conditions, err := f.conditions()
	if err != nil {
		return err
	}
	since, err := f.sinceTime(conditions)
	if err != nil {
		return err
	}
	in, err := segmentsFor(f.complete.flags, f.about == report.SegmentTotals)
	if err != nil {
		return err
	}
	return withStore(ctx, con, *f.store, f.complete, func(s store.Reader, settings store.Settings) error {
		if f.changes {
			all, err := report.ReadChanges(ctx, s)
			if err != nil {
				return err
			}
			return f.out.write(ctx, con, func(out io.Writer) error { return report.WriteChanges(out, all, opt.Format) })
		}
		if is, _ := report.HasTotals(f.about); is {
			t, err := report.ReadTotals(ctx, s, f.about, in)
			if err != nil {
				return err
			}
			return f.out.write(ctx, con, func(out io.Writer) error { return report.WriteTotals(out, t, opt.Format) })
		}
		opt.About = report.About{Store: *f.store, Settings: settings, Whole: f.complete.complete}
		var found *audit.Audit
		if f.about != "" || conditions != nil {
			if found, err = f.audit(ctx, s, settings, audit.Options{About: opt.About, Segments: in}, conditions, since); err != nil {
				return err
			}
		}
		opt.Rule.Similarity, opt.Rule.MinWords, opt.Rule.Contained = settings.Similarity, settings.MinWords, settings.Contained
		how := audit.Output{Format: opt.Format, About: f.about, Top: opt.Top}
		if f.about == aboutAll {
			how.About = ""
		}
		err := f.out.write(ctx, con, func(out io.Writer) error {
			if f.about != "" {
				return audit.Write(ctx, out, found, how)
			}
			return report.Write(ctx, out, report.FromStore(s), opt)
		})
		if err != nil || conditions == nil {
			return err
		}
		return failed(con, found.Fails(conditions))
	})
}

const aboutAll = "audit"

func (f *reportFlags) conditions() (all []audit.Condition, err error) {
	switch is, err := report.HasTotals(f.about); {
	case err != nil:
		return nil, usagef("--about %s: %v", f.about, err)
	case !is:
	case f.form.Format == report.HTML || f.form.Format == report.XLSX:
		return nil, usagef("--about %s: is written as text, csv or json, not as %s", f.about, f.form.Format)
	case f.failOn != "" || f.since != "":
		return nil, usagef("--about %s: --fail-on and --since are about the audit: use another --about", f.about)
	default:
		return nil, nil
	}
	if f.about != "" && f.about != aboutAll {
		if err := audit.CheckName(f.about); err != nil {
			return nil, usagef("--about %s: %v; the name audit selects all lists", f.about, err)
		}
	}
	if f.failOn == "" {
		return nil, nil
	}
	if all, err = audit.ParseConditions(f.failOn); err != nil {
		return nil, usagef("--fail-on: %w", err)
	}
	return all, nil
}

// sinceTime returns the time that --since names, which some conditions require. It returns the zero time for LAST
// and without --since.
func (f *reportFlags) sinceTime(conditions []audit.Condition) (at time.Time, err error) {
	i := slices.IndexFunc(conditions, func(c audit.Condition) bool { return c.Change != "" })
	switch {
	case f.since == "" && i >= 0:
		return at, usagef("--fail-on %s:%s requires --since: try --since LAST", conditions[i].Change, conditions[i].Name)
	case f.since == "", strings.EqualFold(f.since, "LAST"):
		return at, nil
	}
	if at, err = parseMoment(f.since); err != nil {
		return at, usagef("--since %q: try LAST, a time (2026-11-24, 2026-11-24T09:30:00Z) or an age (36h, 7d)", f.since)
	}
	return at, nil
}

// audit audits the store s. With --since, it compares the result with that of the crawl that readPast finds. It lists
// almost-duplicates if f.about or conditions asks for them. For a full audit, it also lists them if the store is small.
func (f *reportFlags) audit(ctx context.Context, s store.Reader, settings store.Settings, opt audit.Options, conditions []audit.Condition, since time.Time) (*audit.Audit, error) {
	rule, err := session.StoredRule(settings, *f.store)
	if err != nil {
		return nil, err
	}
	opt.Rule, opt.AllFrom = rule, f.form.Format.All()
	opt.Scores = opt.AllFrom && f.about == pagesList
	asked := f.about == nearlyList || slices.ContainsFunc(conditions, func(c audit.Condition) bool { return c.Name == nearlyList })
	if f.since != "" {
		if opt.Since, err = f.readPast(ctx, s, since); err != nil {
			return nil, err
		}
	}
	if asked {
		opt.Nearly = func(ctx context.Context) (*audit.Nearly, error) { return complete.FindNearly(ctx, s, rule) }
	} else if f.about == aboutAll {
		opt.Nearly = func(ctx context.Context) (*audit.Nearly, error) { return complete.NearlyUnasked(ctx, s, rule) }
	}
	return audit.Read(ctx, s, opt)
}

// readPast reads the findings that the audit is compared with: those of the latest crawl that ended before the time
// since, or, if that is zero, of the crawl before the last one.
func (f *reportFlags) readPast(ctx context.Context, s store.Reader, since time.Time) (*audit.Past, error) {
	h, err := audit.ReadHistory(ctx, s)
	if err != nil {
		return nil, err
	}
	found := h.Before()
	if !since.IsZero() {
		found = h.At(since)
	}
	if found != nil {
		return audit.ReadPast(ctx, s, found)
	}
	var kept []string
	for _, k := range h.Earlier() {
		kept = append(kept, fmt.Sprintf("--since %s (crawl %d)", k.Ended.Format(time.RFC3339), k.Number))
	}
	last := cmp.Or(strings.Join(kept[max(0, len(kept)-3):], ", "), "none")
	return nil, fmt.Errorf("--since %s: %s has no saved findings of such a crawl; earlier crawls with saved findings: %s; a crawl saves them with --audit, as in %s",
		f.since, *f.store, last, session.WithStore("skink crawl --audit --recrawl 0s", *f.store))
}

// nearlyList names the list of pages that are almost duplicates. For a large store, an audit makes the
// list only on request.
const nearlyList = "nearly"

// pagesList names the list of all URLs. Only as CSV and JSON, it has the link scores and the anchor texts.
const pagesList = "pages"

// failed prints each condition of --fail-on that was met. If there are any, it returns an error
// that makes the process exit with code 4.
func failed(con Console, why []string) error {
	for _, w := range why {
		fmt.Fprintf(con.Err, "skink: --fail-on %s\n", w)
	}
	if len(why) > 0 {
		return exitError(exitFound)
	}
	return nil
}

// addFormFlags adds flags for a report, which may also have the further formats.
func addFormFlags(flags *pflag.FlagSet, further ...report.Format) *report.Options {
	o := &report.Options{Format: report.Text}
	flags.Var(oneOf(&o.Format, append([]report.Format{report.Text, report.JSON, report.CSV, report.HTML}, further...)...), "format", "print the report in this format")
	flags.Var(whole(&o.Top, 1, "1 or more"), "top", "show at most this many clusters, or rows for each audit finding (default: all in json, csv and xlsx, fewer in text and html)")
	return o
}

// completeFlags are the flags for comparing all pages of a store with each other, instead of using
// the crawl's verdicts.
type completeFlags struct {
	flags      *pflag.FlagSet
	complete   bool
	similarity float64
	prefer     *list
	memory     *int64
}

var completeRules = []flagRule{{"similarity,memory,prefer", modifies, "complete", ""}}

func addCompleteFlags(flags *pflag.FlagSet) *completeFlags {
	c := &completeFlags{flags: flags, prefer: expressions(new([]*regexp.Regexp))}
	flags.BoolVar(&c.complete, "complete", false, "compare every page with all others after the crawl, so that the order of the crawl does not matter")
	flags.Var(similarity(&c.similarity), "similarity", "with --complete: treat pages as near-duplicates if their resemblance is at least this (default: as in the crawl)")
	flags.Var(c.prefer, "prefer", "`REGEXP` with --complete: among duplicates, prefer the page whose URL matches REGEXP (repeatable, most preferred first; default: as in the crawl)")
	c.memory = addMemoryFlag(flags, "with --complete: use about this much memory; if the texts need more, compare them in several rounds")
	return c
}

// withStore opens the store in dir for reading, calls do, and closes the store. With --complete, it
// first compares all pages with each other and passes the result to do.
func withStore(ctx context.Context, con Console, dir string, how *completeFlags, do func(s store.Reader, settings store.Settings) error) (err error) {
	limit := int64(math.MaxInt64) // only a comparison keeps to a limit
	if how.complete {
		limit = *how.memory
	}
	paceCollector(*how.memory/heapShare, limit, completePercent)
	s, err := openToRead(ctx, dir, con.Err)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, s.close()) }()
	if len(s.loss.Damage) > 0 {
		defer func() { err = keepFirst(err, fmt.Errorf("%s: the output is incomplete. %s", dir, damageText(s.loss))) }()
	} else {
		warn(con.Err, s.loss)
	}
	settings, err := storedSettings(ctx, s)
	if err != nil {
		return err
	}
	judged, err := how.judge(ctx, s.Reader, dir, &settings)
	if err != nil {
		return err
	}
	return do(judged, settings)
}

// judge compares all pages of the store in dir with each other, and sets the similarity in its settings.
// Without --complete, it returns the store as it is.
func (c *completeFlags) judge(ctx context.Context, s store.Reader, dir string, settings *store.Settings) (store.Reader, error) {
	if !c.complete {
		return s, nil
	}
	rule, err := session.StoredRule(*settings, dir)
	if err != nil {
		return nil, err
	}
	if typed(c.flags, "similarity") {
		if settings.Similarity = c.similarity; rule.Contained > 0 {
			return nil, usagef("--similarity has no effect, because %s was created with --rule containment: omit it", harmless.Line(dir))
		}
	}
	return complete.Judge(ctx, s, complete.Options{Rule: rule, Similarity: settings.Similarity, Prefer: c.prefer.words, Keep: true, Memory: *c.memory})
}

// storedSettings returns the settings of a store, or the defaults if the store is new and has none.
func storedSettings(ctx context.Context, s store.Reader) (store.Settings, error) {
	set, err := store.ReadSettings(ctx, s)
	switch {
	case err != nil:
		return store.Settings{}, err
	case set == nil:
		return session.DefaultSettings(), nil
	}
	return *set, nil
}
