package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/store"
)

func TestPaceText(t *testing.T) {
	polite := crawler.HostState{Requests: 6, Rest: time.Second}
	folder := crawler.HostState{Requests: 600}
	for _, c := range []struct {
		name  string
		args  []string
		m     moment
		hosts []crawler.HostState
		says  bool
	}{
		{"one host", nil, moment{added: 5, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite}, true},
		{"two hosts", nil, moment{added: 10, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite, polite}, true},
		{"with a folder", nil, moment{added: 605, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite, folder}, false},
		{"a folder alone", nil, moment{added: 5, pending: 90, took: 5 * time.Second}, []crawler.HostState{folder}, false},
		{"at its end", nil, moment{added: 5, took: 5 * time.Second}, []crawler.HostState{polite}, false},
		{"as was asked for", []string{"--delay", "1s"}, moment{added: 5, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite}, false},
	} {
		flags := pflag.NewFlagSet("crawl", pflag.ContinueOnError)
		f := &crawlFlags{options: crawler.Defaults(), rule: &ruleFlags{flags: flags}}
		flags.DurationVar(&f.options.Delay, "delay", f.options.Delay, "")
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if text := (&crawlRun{crawlFlags: f, options: f.options}).paceText(c.m, c.hosts); (text != "") != c.says {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}

// Progress says how much of all is read, how fast, what came of it, and when it will end as far as
// that is known.
func TestJudgingLine(t *testing.T) {
	found := store.Tally{Unique: 70, Exact: 20, Near: 9, Thin: 1}
	for _, c := range []struct {
		j    judging
		want string
	}{
		{judging{25 << 20, 100 << 20, found, 10 * time.Second}, "25.0 MB of 100.0 MB  2.5 MB/s  unique 70  exact 20  near 9  thin 1  30s left"},
		{judging{25 << 20, -1, found, 10 * time.Second}, "25.0 MB  2.5 MB/s  unique 70  exact 20  near 9  thin 1"},
		{judging{0, 100 << 20, store.Tally{}, 100 * time.Millisecond}, "0 bytes of 100.0 MB  0 bytes/s  unique 0  exact 0  near 0  thin 0"},
		{judging{100 << 20, 100 << 20, found, 10 * time.Second}, "100.0 MB of 100.0 MB  10.0 MB/s  unique 70  exact 20  near 9  thin 1"},
	} {
		if got := c.j.line(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
