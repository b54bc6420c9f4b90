package session

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/extract"
	"skink/internal/archive"
	"skink/internal/ingest"
	"skink/internal/memory"
	"skink/internal/monitor"
	"skink/report/audit"
	"skink/store"
	"skink/view"
	"skink/warc"
)

// DefaultStore is the folder of the store if the user names none. Suggested commands omit the flag
// --store for this folder.
const DefaultStore = "skink-data"

// A NamedStore is a store that is open for writing.
type NamedStore struct {
	store.Store
	Name   string                    // name for messages; for a server, it is the URL without the password
	Shared bool                      // other worker processes may write to the store, too
	Disk   func() (size, free int64) // size of the store and free space, in bytes; nil means that the store is on a server
}

// disk returns the size of a store and the free space for it, in bytes. Both are 0 if the store is
// on a server.
func (s *NamedStore) disk() (size, free int64) {
	if s.Disk == nil {
		return 0, 0
	}
	return s.Disk()
}

// Options are the options of one run of a crawl. The store keeps Seeds, Wanted.Settings and Prefer
// for later runs. All other options apply to one run only.
type Options struct {
	Crawl  crawler.Options // scope, politeness and limits; Run adds the options that follow from the seeds
	Wanted Wanted          // settings for judging and keeping pages
	Prefer []string        // regular expressions; a page whose URL matches becomes the leader of its duplicates
	Seeds  Seeds           // seeds in addition to those in the store
	Add    bool            // allow Seeds that are on other sites than the finished crawl in the store
	Again  Again           // selects the URLs to visit again

	Anchors   bool          // keep the fragments of links and the anchors of pages, for an audit
	Audit     bool          // audit the store when the crawl ends, and keep the findings in the store
	GoneAfter int           // number of consecutive failed visits after which a page counts as gone
	Learn     bool          // learn which patterns of URLs lead only to known texts
	Budget    bool          // postpone URLs of patterns that lead only to known texts
	Memory    int64         // memory for the whole process, in bytes
	MaxTime   time.Duration // time after which the run ends; 0 means no limit

	StoreCookies bool        // store the cookies that hosts set, so that later runs can use them; needs Crawl.Cookies
	Feed         string      // target to which pages are written: "-" for Output.Out, the URL of a search index, an object in a bucket, or a file; "" means none
	Index        http.Header // HTTP header with the credentials for a search index
	Archive      Archive     // archive to which the responses of servers are written
	LogURLs      bool        // log each URL; needs Output.Log
	Metrics      string      // address at which metrics are served; "" means none
	Build        monitor.Build

	// Nearly finds the pages that are almost duplicates, for the audit. If it is nil or returns
	// nil, the audit does not list these pages.
	Nearly func(ctx context.Context, s store.Reader, rule dedup.Rule) (*audit.Nearly, error)

	// View returns the options for showing a store with the given rule in a browser. Run adds the
	// store and the crawl to these options. If View is nil, the crawl is not shown.
	View func(dedup.Rule) view.Options

	DelayChosen bool                // whether the user set the delay between requests; if not, a message may explain that the delay makes the crawl slow
	Resume      func(Ending) string // returns the command that continues the crawl; nil means that there is none
}

// Defaults returns the options of a crawl that stays on the hosts of its seeds.
func Defaults() Options {
	o := Options{
		Crawl: crawler.Defaults(), Wanted: Wanted{Settings: DefaultSettings()}, Again: Again{Schedule: DefaultSchedule()},
		GoneAfter: ingest.DefaultGoneAfter, Learn: true, Budget: true, Memory: memory.Default,
		Archive: Archive{Size: archive.DefaultSize, Digest: warc.SHA256},
	}
	o.Crawl.Scope, _ = crawler.NewScope(crawler.ScopeHost, nil, nil) // NewScope fails only if a pattern is invalid, and there are none
	return o
}

// DefaultSettings returns the settings of a new store.
func DefaultSettings() store.Settings {
	return store.Settings{
		Format: store.FormatVersion, Extractor: extract.Version, Tokenizer: dedup.TokenizerVersion, Sketch: dedup.SketchVersion,
		Form: dedup.Plain.String(), Unit: string(dedup.Words), Shingle: dedup.DefaultShingle,
		Similarity: dedup.DefaultSimilarity, Scheme: "bands", MinWords: dedup.DefaultMinWords,
	}
}

// resume returns the command that continues the crawl, or "" if there is none.
func (o *Options) resume(end Ending) string {
	if o.Resume == nil {
		return ""
	}
	return o.Resume(end)
}

// An Archive holds the options for archiving responses in WARC files.
type Archive struct {
	Dir    string // folder; "" means that responses are not archived
	Size   int64  // size in bytes at which a file is closed and a new one begins
	Digest warc.Digest
}

// A UsageError means that the options contradict each other or the store, so that the user must
// change them.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }
