package session

import (
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
	"skink/store"
	"skink/view"
	"skink/warc"
)

// DefaultStore is the folder of a store without a name. Messages do not repeat it.
const DefaultStore = "skink-data"

// A NamedStore is a store that is open for writing.
type NamedStore struct {
	store.Store
	Name   string                    // for messages, without a password
	Shared bool                      // other workers may write to it too
	Disk   func() (size, free int64) // bytes that it takes and may still take; nil: it is on a server
}

// disk returns the bytes that a store takes and may still take, and zeros for one on a server.
func (s *NamedStore) disk() (size, free int64) {
	if s.Disk == nil {
		return 0, 0
	}
	return s.Disk()
}

// Options say what a run does. The store keeps the seeds, the settings and Prefer of earlier runs.
// All other options apply to one run.
type Options struct {
	Crawl  crawler.Options // scope, politeness and limits; Run adds what follows from the seeds
	Wanted Wanted          // how pages are judged and kept
	Prefer []string        // regular expressions of the URLs that lead their copies
	Seeds  Seeds           // in addition to those in the store
	Add    bool            // Seeds may be of other sites than a finished crawl in the store
	Again  Again           // which URLs to visit again

	GoneAfter int           // failed visits in a row after which a page is gone
	Learn     bool          // learn which patterns of URLs return known texts
	Budget    bool          // postpone URLs of such patterns
	Memory    int64         // bytes
	MaxTime   time.Duration // of this run; 0: no limit

	Feed         string      // "": none; "-": Output.Out; the URL of an index; or a file
	Index        http.Header // credentials for the index
	Archive      Archive     // of the answers
	StoreCookies bool        // keep the cookies that hosts set in the store, for later runs; needs Crawl.Cookies
	LogURLs      bool        // log each URL; needs Output.Log
	Metrics      string      // address of a server for metrics; "": none
	Build        monitor.Build

	// View returns how a browser is shown a store that is judged by a rule. Run adds the store and
	// the crawl. nil: there is no view.
	View func(dedup.Rule) view.Options

	DelayChosen bool                // the user knows the delay, so it is not explained
	Resume      func(Ending) string // returns the command that continues the crawl; nil: there is none
}

// Defaults returns the options of a crawl that stays on the hosts of its seeds.
func Defaults() Options {
	o := Options{
		Crawl: crawler.Defaults(), Wanted: Wanted{Settings: DefaultSettings()}, Again: Again{Schedule: DefaultSchedule()},
		GoneAfter: ingest.DefaultGoneAfter, Learn: true, Budget: true, Memory: memory.Default,
		Archive: Archive{Size: archive.DefaultSize, Digest: warc.SHA256},
	}
	o.Crawl.Scope, _ = crawler.NewScope(crawler.ScopeHost, nil, nil) // it has no pattern that could be wrong
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

// An Archive says where and how the answers of a crawl are kept.
type Archive struct {
	Dir    string // folder; "": answers are not kept
	Size   int64  // bytes after which another file begins
	Digest warc.Digest
}

// A UsageError says that the options fit neither each other nor the store: the user must change
// them.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }
