package session

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"skink/crawler"
	"skink/crawler/access"
	"skink/dedup"
	"skink/extract"
	"skink/internal/archive"
	"skink/internal/ingest"
	"skink/internal/memory"
	"skink/internal/monitor"
	"skink/internal/output"
	"skink/store"
	"skink/view"
	"skink/warc"
)

// DefaultStore is the default folder of the store. Suggested commands omit the flag --store for
// this folder.
const DefaultStore = "skink-data"

// A NamedStore is a store that is open for writing.
type NamedStore struct {
	store.Store
	Name   string                    // name for messages; for a server, its URL without the password
	Shared bool                      // other worker processes may also write to the store
	Silent func() bool               // reports whether the server does not respond; nil if the store is in a folder
	Disk   func() (size, free int64) // size of the store and free space, in bytes; nil if the store is on a server
}

// Both results are in bytes, and 0 for a store on a server.
func (s *NamedStore) disk() (size, free int64) {
	if s.Disk == nil {
		return 0, 0
	}
	return s.Disk()
}

// Options are the options of one run of a crawl. The store keeps Seeds, Wanted.Settings and Prefer
// for later runs. All others apply to this run only.
type Options struct {
	Crawl  crawler.Options // scope, politeness and limits; Run adds options derived from the seeds
	Wanted Wanted          // settings for judging and storing pages
	Prefer []string        // regular expressions; pages with matching URLs are preferred as leaders of their duplicates
	Seeds  Seeds           // seeds in addition to those in the store
	Own    []access.Seed   // more seeds, with settings of their own
	Add    bool            // allow Seeds on sites other than those of the finished crawl in the store
	Again  Again           // selects the URLs to visit again

	Forever bool // when nothing is left to fetch, sleep until a page is due; Again must select the pages that are due

	Anchors   bool          // keep the fragments of links, and the anchors of pages, for an audit
	Audit     bool          // audit the store when the crawl ends, and store the findings
	GoneAfter int           // number of consecutive failed visits after which a page counts as gone
	Learn     bool          // learn which URL patterns lead only to known texts
	Budget    bool          // postpone URLs whose patterns lead only to known texts
	Memory    int64         // memory for the whole process, in bytes
	MaxTime   time.Duration // maximum duration of the run; 0 means no limit

	FeedFile     *output.File // the file or object of Feed
	CrawlLog     *output.File // where to log each request; nil means nowhere
	Feed         string       // where to write pages: "-" for Output.Out, the URL of a search index, an object in a bucket, or a file; "" means none
	Index        http.Header  // header with the credentials for a search index
	Archive      Archive      // where to archive responses
	Follow       Follower     // receives the pages
	LogURLs      bool         // log each URL; needs Output.Log
	Metrics      string       // address to serve metrics on; "" means none
	MetricsHosts []string     // other host names for which metrics are served
	Build        monitor.Build

	// View returns the options for showing a store with the given rule in a browser. Run adds the
	// store and the crawl to these options. If View is nil, the crawl is not shown in a browser.
	View func(dedup.Rule) view.Options

	Reload      func() (next Options, keep func() error, err error) // reads the configuration again; keep is called before the run uses it
	DelayChosen bool                                                // the user set the delay between requests; otherwise, a message says what the delay is
	Resume      func(Ending) string                                 // returns the command that continues the crawl, or "" if there is none
}

// Defaults returns the options of a crawl that stays on the hosts of its seeds.
func Defaults() Options {
	o := Options{
		Crawl: crawler.Defaults(), Wanted: Wanted{Settings: DefaultSettings()}, Again: Again{Schedule: DefaultSchedule()},
		Resume: func(Ending) string { return "" }, GoneAfter: ingest.DefaultGoneAfter, Learn: true, Budget: true, Memory: memory.Default,
		Archive: Archive{Options: archive.Options{Size: archive.DefaultSize}},
	}
	o.Crawl.Scope, _ = crawler.NewScope(crawler.ScopeHost, nil, nil) // NewScope fails only for an invalid pattern, and there are none
	return o
}

// DefaultSettings returns the settings of a new store.
func DefaultSettings() store.Settings {
	return store.Settings{
		Format: store.FormatVersion, Extractor: extract.Version, Tokenizer: dedup.TokenizerVersion, Sketch: dedup.SketchVersion,
		Unit: string(dedup.Words), Shingle: dedup.DefaultShingle,
		Similarity: dedup.DefaultSimilarity, Scheme: "bands", MinWords: dedup.DefaultMinWords,
	}
}

// An Archive says where and how responses are archived. Run sets the options Worker and Scope.
type Archive struct {
	Dir             string // "" means that responses are not archived
	archive.Options        // Refers has folders instead of files, and Info has only the fields from the user
}

// AddInfo adds a field to a.Info, given as NAME=VALUE.
func (a *Archive) AddInfo(text string) error {
	name, value, _ := strings.Cut(text, "=")
	switch {
	case !slices.Contains(warc.InfoFields, name):
		return fmt.Errorf("must be NAME=VALUE with one of the names %s", strings.Join(warc.InfoFields, ", "))
	case strings.TrimSpace(value) == "", strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("the value of %s must be one line of text", name)
	}
	a.Info.Add(name, strings.TrimSpace(value))
	return nil
}

// A UsageError means that the options contradict each other or the store.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// An Output receives the messages of a run, its progress, and the feed of pages if it is printed.
type Output struct {
	Out     io.Writer        // for the feed, if Options.Feed is "-"
	Err     io.Writer        // for messages and progress as text
	Log     *slog.Logger     // for messages and progress as log records; if nil, Err is used
	Quiet   bool             // print errors only
	Screen  io.Writer        // terminal for the status line, which may contain escape sequences; nil if Err is not a terminal
	Columns func() int       // width of Screen in characters
	Asked   <-chan os.Signal // receives a signal each time the user asks for the state of the hosts; may be nil
	Reload  <-chan os.Signal // receives a signal to read the configuration again; may be nil
}

// Say prints a sentence.
func (o Output) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.event(text, nil, text)
}

// event writes a log record, or else a text.
func (o Output) event(name string, attrs []any, text string) {
	switch {
	case o.Quiet:
	case o.Log != nil:
		o.Log.Info(name, attrs...)
	default:
		fmt.Fprintln(o.Err, text)
	}
}

func (o Output) finish(sum Summary) { o.event("finished", sum.attrs(), sum.String()) }
