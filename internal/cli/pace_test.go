package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler"
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
