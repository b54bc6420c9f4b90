package session

import (
	"testing"
	"time"

	"skink/crawler"
)

func TestPaceText(t *testing.T) {
	polite := crawler.HostState{Requests: 6, Rest: time.Second}
	folder := crawler.HostState{Requests: 600}
	for _, c := range []struct {
		name  string
		given bool // the delay
		m     moment
		hosts []crawler.HostState
		says  bool
	}{
		{"one host", false, moment{added: 5, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite}, true},
		{"two hosts", false, moment{added: 10, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite, polite}, true},
		{"with a folder", false, moment{added: 605, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite, folder}, false},
		{"a folder alone", false, moment{added: 5, pending: 90, took: 5 * time.Second}, []crawler.HostState{folder}, false},
		{"at its end", false, moment{added: 5, took: 5 * time.Second}, []crawler.HostState{polite}, false},
		{"as was asked for", true, moment{added: 5, pending: 90, took: 5 * time.Second}, []crawler.HostState{polite}, false},
	} {
		opt := Options{Crawl: crawler.Defaults(), DelayChosen: c.given}
		if text := opt.paceText(c.m, c.hosts); (text != "") != c.says {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}
