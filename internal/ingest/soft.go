package ingest

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/lastused"
	"skink/store"
)

// # Pages that say that there is no page
//
// What a host says of a URL that cannot exist (see package learn) is held against each page of the
// host that comes after. A page that says the same, but for its URL, is recorded as an error: it is
// not judged, leads nobody and is not fed, though its links are followed. Pages that came before
// are put back to be fetched, and found to be gone.
//
// The same is: the same words, or a resemblance of softLike, which is more than any similarity that
// a site's own template makes among its pages. A seed, what seeds redirect to, a host's home page
// and the page that the answer names as its own (rel=canonical) are never taken for errors: many
// hosts answer with one of these.
const softLike = 0.9

// soften makes an error of a subject that says what its host says of URLs that cannot exist.
func (p *Pipeline) soften(ctx context.Context, s *subject, page *crawler.Page) error {
	soft, is, err := p.isSorry(ctx, s)
	s.softened = soft.Says()
	if err != nil || !is {
		return err
	}
	*s = subject{record: recordOf(page), claim: s.claim, item: s.item, share: s.share, links: s.links, beyond: s.beyond, softened: true}
	r := &s.record
	r.Kind, r.Problem, r.Detail = store.Error, string(crawler.ProblemSoft), "its host says the same of "+soft.Probe
	r.ETag, r.Modified = "", "" // of a page that is to come at the URL they say nothing
	return nil
}

// resoften puts a page back that was read before its host was found out, and stored after the pages
// that came before had been put back.
func (p *Pipeline) resoften(ctx context.Context, s *subject) error {
	if s.softened || s.known || s.touch {
		return nil
	}
	if _, is, err := p.isSorry(ctx, s); err != nil || !is {
		return err
	}
	return p.fetchAgain(ctx, &s.record)
}

// isSorry says whether a subject says what its host says of URLs that cannot exist, and what that
// is, if it is known.
func (p *Pipeline) isSorry(ctx context.Context, s *subject) (soft learn.Soft, is bool, err error) {
	r := &s.record
	if p.opt.Learn == nil || r.Kind != store.Page || r.Depth == 0 || frontier.IsRoot(r.URL) {
		return soft, false, nil
	}
	soft, ok, err := p.opt.Learn.Soft(ctx, r.URL)
	if err != nil || !ok || r.URL == soft.Real {
		return soft, false, err
	}
	sorry := p.sorry(&soft, r.Lang)
	if sorry.said.like(p.sayingOf(s), p.opt.Rule) {
		return soft, true, nil
	}
	text, err := s.plainText()
	if err != nil {
		return soft, false, err
	}
	plain := learn.Plain(text, r.URL)
	if !sorry.echoes && plain == text {
		return soft, false, nil // it was compared already
	}
	return soft, sorry.plain.like(p.saying(plain, r.Lang), p.opt.Rule), nil
}

// A saying is what is compared of a text here.
type saying struct {
	tokens int // of the canonical text
	hash   dedup.Hash
	set    dedup.Set // empty if the text is too short to be compared
}

// saying reads a text.
func (p *Pipeline) saying(text, lang string) *saying {
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)
	p.opt.Rule.Read(canon, text, lang)
	r := &saying{tokens: canon.Len(), hash: canon.Hash()}
	if !p.opt.Rule.Short(r.tokens) {
		r.set = dedup.NewSet(p.opt.Rule.Shingles(canon))
	}
	return r
}

// sayingOf is what was read of a subject's text already.
func (p *Pipeline) sayingOf(s *subject) *saying {
	r := &saying{tokens: s.tokens, hash: s.record.Hash}
	if !p.opt.Rule.Short(s.tokens) {
		r.set = s.shingleSet()
	}
	return r
}

// like says whether two texts are the same, or nearly. Nothing is not an answer.
func (r *saying) like(other *saying, rule dedup.Rule) bool {
	switch {
	case r.tokens == 0:
		return false
	case r.hash == other.hash:
		return true
	case rule.Short(r.tokens) || rule.Short(other.tokens):
		return false
	}
	return dedup.Resemblance(r.set, other.set) >= softLike
}

// A sorry is what a host says of URLs that cannot exist, read: with the URL that it was asked for,
// and without. All its pages are compared with it, so those of some hosts are kept.
type sorry struct {
	said, plain *saying
	echoes      bool // the URL is in it
}

// A sorryOf names one: its words depend on the language that a page says it is in.
type sorryOf struct{ text, probe, lang string }

// sorries are those used last.
type sorries struct {
	mu   sync.Mutex
	last *lastused.Cache[sorryOf, *sorry] // guarded by mu
}

// sorriesKept bounds the bytes of the sets that are kept: of more than a hundred hosts, for nobody
// is sorry at length.
const sorriesKept = 4 << 20

func (s *sorry) weigh() int { return 8 * (len(s.said.set) + len(s.plain.set)) }

// sorry reads what a host says of URLs that cannot exist.
func (p *Pipeline) sorry(soft *learn.Soft, lang string) *sorry {
	name := sorryOf{soft.Text, soft.Probe, lang}
	p.sorries.mu.Lock()
	defer p.sorries.mu.Unlock()
	if s, ok := p.sorries.last.Get(name); ok {
		return s
	}
	s := &sorry{said: p.saying(soft.Text, lang)}
	plain := learn.Plain(soft.Text, soft.Probe)
	if s.plain, s.echoes = s.said, plain != soft.Text; s.echoes {
		s.plain = p.saying(plain, lang)
	}
	p.sorries.last.Put(name, s)
	return s
}

// Probe implements [crawler.Prober].
func (p *Pipeline) Probe(ctx context.Context, url string) (string, error) {
	if p.opt.Learn == nil {
		return "", nil
	}
	return p.opt.Learn.Probe(ctx, url)
}

// Probed implements [crawler.Prober].
func (p *Pipeline) Probed(ctx context.Context, page *crawler.Page) error {
	soft := learn.Soft{Probe: page.Item.URL, Status: page.Status}
	if page.Problem == "" && page.Status == http.StatusOK {
		s := &subject{item: page.Item}
		defer s.release()
		s.record = recordOf(page)
		if err := p.readInto(ctx, s, page, new(crawler.Leads)); err != nil {
			return err
		}
		if s.record.Kind == store.Page {
			text, err := s.plainText()
			if err != nil {
				return err
			}
			soft.Text, soft.Real = text, s.record.CanonicalURL
		}
	}
	suspects, err := p.opt.Learn.Probed(ctx, soft)
	if err != nil {
		return fmt.Errorf("take in what a host says of URLs that cannot exist: %w", err)
	}
	for _, url := range suspects {
		if err := p.doubt(ctx, url, frontier.HostOf(soft.Probe)); err != nil {
			return err
		}
	}
	return nil
}

// mostDoubted bounds the pages of one leader that are put back. What is beyond is found at the next
// visit.
const mostDoubted = 64

// doubt puts a page back to be fetched, with those that follow it, as far as they are of the host.
// The page itself is the last of them, so that it has no members left when it is found to be gone.
func (p *Pipeline) doubt(ctx context.Context, url, host string) error {
	first, err := p.recordOf(ctx, dedup.HashOf([]byte(url)))
	if err != nil || first == nil {
		return err
	}
	n := 0
	for r, err := range p.store.Members(ctx, []dedup.Hash{first.ID}) {
		if err != nil {
			return err
		}
		if frontier.HostOf(r.URL) != host {
			continue
		}
		if err := p.fetchAgain(ctx, r); err != nil {
			return err
		}
		if n++; n == mostDoubted {
			break
		}
	}
	if frontier.HostOf(url) != host || first.Kind != store.Page {
		return nil
	}
	return p.fetchAgain(ctx, first)
}
