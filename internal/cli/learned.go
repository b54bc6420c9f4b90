package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler/learn"
	"skink/frontier"
	"skink/internal/session"
	"skink/report"
	"skink/store"
)

// addLearnFlags adds the flags that control whether a crawl learns which URLs of a site lead to
// duplicates, and whether it postpones them.
func addLearnFlags(flags *pflag.FlagSet, o *session.Options) {
	flags.Var(onOff{&o.Crawl.Sitemaps}, "sitemaps", "read the sitemaps of each host whose home page is a seed, and crawl the URLs in them")
	flags.Var(onOff{&o.Learn}, "learn", "learn which URL patterns of a site return texts that are already known")
	flags.Var(onOff{&o.Budget}, "budget", "postpone URLs of patterns that keep returning duplicates; off fetches all URLs, including those postponed earlier")
}

// softShown is the maximum number of probes that printLearned shows.
const softShown = 10

func printLearned(ctx context.Context, out io.Writer, s store.Reader, host string, asJSON bool) error {
	site, err := learn.Read(ctx, s, host)
	if err != nil {
		return err
	}
	if site == nil {
		site = learn.NewHost()
	}
	if asJSON {
		return writeLine(out, site.Brief())
	}
	postponed, err := report.PostponedIn(ctx, s, host)
	if err != nil {
		return err
	}
	session.PrintPostponed(out, postponed)
	soft := site.Soft404()
	for _, s := range soft[:min(len(soft), softShown)] {
		fmt.Fprintf(out, "soft 404: the host returns status 200 for missing pages, such as %s; %s had the same text\n", harmless.Line(s.Probe), report.Counted(s.Pages, "page"))
	}
	return nil
}

// hostNamed returns the host of a URL. It returns any other text unchanged.
func hostNamed(given string) string {
	if url, err := frontier.Canonical(given); err == nil && frontier.HasScheme(given) {
		return frontier.HostOf(url)
	}
	return given
}
