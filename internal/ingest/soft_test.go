package ingest

import (
	"fmt"
	"testing"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// TestSoft holds pages against what their host says of a URL that cannot exist.
func TestSoft(t *testing.T) {
	const host = "https://a.example"
	probe := learn.ProbeOf(host + "/old/1")
	long := words(1, 100)
	echo := func(url string) string { return "There is nothing at " + url + " for you." }
	for _, c := range []struct {
		name       string
		sorry      string // text of the answer to the probe
		url, text  string
		depth      int
		want       store.Kind
		probedWith int // status; 0 is 200
	}{
		{"the same words", long, host + "/old/1", long, 1, store.Error, 0},
		{"the same few words", "We are sorry.", host + "/old/1", "We are sorry.", 1, store.Error, 0},
		{"nearly the same", long, host + "/old/1", but(long, "x"), 1, store.Error, 0},
		{"a little alike", long, host + "/old/1", words(1, 50) + words(2, 50), 1, store.Page, 0},
		{"with its URL in it", echo(probe), host + "/old/18765", echo(host + "/old/18765"), 1, store.Error, 0},
		{"few words of its own", "We are sorry.", host + "/old/1", "We are glad.", 1, store.Page, 0},
		{"a seed", long, host + "/old/1", long, 0, store.Page, 0},
		{"the home page", long, host + "/", long, 1, store.Page, 0},
		{"on another host", long, "https://b.example/old/1", long, 1, store.Page, 0},
		{"an honest host", long, host + "/old/1", long, 1, store.Page, 404},
		{"nothing at all", "", host + "/old/1", "", 1, store.Page, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := store.NewMemory()
			opt := testOptions(t)
			opt.Learn = NewBook(s)
			p := start(t, s, opt)
			defer p.Close()
			answer := article(probe, c.sorry)
			answer.Status = 200
			if c.probedWith != 0 {
				answer.Status, answer.Problem = c.probedWith, crawler.ProblemStatus
			}
			if err := p.Probed(t.Context(), answer); err != nil {
				t.Fatal(err)
			}
			page := article(c.url, c.text)
			page.Item.Depth = c.depth
			handle(t, p, page)
			r := content(t, s, c.url).Record
			if r.Kind != c.want || (r.Problem == string(crawler.ProblemSoft)) != (c.want == store.Error) || c.want == store.Error && (r.Fed() || r.Words > 0) {
				t.Errorf("record %+v", r)
			}
			if r, err := p.recordOf(t.Context(), dedup.HashOf([]byte(probe))); r != nil || err != nil {
				t.Errorf("the probe has a record: %+v, %v", r, err)
			}
		})
	}
}

// TestSoftBefore: pages that came before their host was found out are put back to be fetched, those
// of other hosts are not; when they come, they are gone.
func TestSoftBefore(t *testing.T) {
	const host = "https://a.example"
	s := store.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	sorry := words(1, 100)
	urls := []string{"https://b.example/lost", host + "/old/0", host + "/old/1", host + "/old/2", host + "/old/3"}
	for _, url := range urls {
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: url, Depth: 1}}); err != nil {
			t.Fatal(err)
		}
		page := article(url, sorry)
		page.Item.Depth = 1
		handle(t, p, page)
	}
	probe, err := p.Probe(t.Context(), urls[1])
	if err != nil || probe == "" {
		t.Fatalf("to be asked for: %q, %v", probe, err)
	}
	answer := article(probe, sorry)
	answer.Status = 200
	if err := p.Probed(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	for n, url := range urls {
		state, err := s.State(t.Context(), url)
		if err != nil || (state == frontier.Pending) != (n > 0) {
			t.Errorf("%s: state %d, %v", url, state, err)
		}
		if n == 0 {
			continue
		}
		page := again(article(url, sorry), n)
		page.Item.Depth = 1
		handle(t, p, page)
		r := content(t, s, url).Record
		same(t, url, fmt.Sprint(r.Kind, ", ", r.Visit, ", ", r.Problem), "error, gone, soft 404")
	}
	if r := content(t, s, urls[0]).Record; r.Kind != store.Page {
		t.Errorf("%+v", r)
	}
}

// TestSoftMeanwhile: a page that was being judged while its host was found out is put back too.
func TestSoftMeanwhile(t *testing.T) {
	const url = "https://a.example/old/1"
	s := store.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	page, answer := article(url, "We are sorry."), article(learn.ProbeOf(url), "We are sorry.")
	page.Item.Depth, answer.Status = 1, 200
	subject, err := p.crawled(t.Context(), page, new(crawler.Leads))
	if err != nil {
		t.Fatal(err)
	}
	defer subject.release()
	if err := p.Probed(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	if err := p.commit(t.Context(), subject, p.committer(subject, page)); err != nil {
		t.Fatal(err)
	}
	if state, err := s.State(t.Context(), url); err != nil || state != frontier.Pending {
		t.Errorf("state %d, %v", state, err)
	}
}
