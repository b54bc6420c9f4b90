package learn

import (
	"context"
	"slices"
)

// Probe returns a URL that cannot exist and should be requested from the host of url, or "" if
// there is none now. The result from is the page whose URL it was made from. Probe returns each such
// URL once per process. If there was no response, a later process requests the URL again.
func (b *Book) Probe(ctx context.Context, url string) (probe, from string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return "", "", err
	}
	for _, pattern := range e.site.Pending {
		if s := e.site.Softs[pattern]; !e.probed[s.Probe] {
			if e.probed == nil {
				e.probed = map[string]bool{}
			}
			e.probed[s.Probe] = true
			return s.Probe, s.From, nil
		}
	}
	return "", "", nil
}

// Probed records the response to a probe, and returns the data about it. Status 0 means that there
// was no response. If the response is a page with text, Probed also returns the judged pages that
// may have the same text. The caller must compare them and call Examined; otherwise, a later process
// requests the URL again.
func (b *Book) Probed(ctx context.Context, answer Soft) (known Soft, suspects []string, err error) {
	if answer.Status == 0 {
		return known, nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(answer.Probe))
	if err != nil {
		return known, nil, err
	}
	e.dirty = true
	s := e.site.answered(answer)
	if s == nil {
		return known, nil, nil
	}
	return s.copied(), s.suspects(), nil
}

// Examined records that the pages which Probed returned have been compared with the response.
func (b *Book) Examined(ctx context.Context, probe string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(probe))
	if err != nil {
		return err
	}
	e.dirty = true
	e.site.examined(probe)
	return nil
}

// Turned records that a page has changed completely since the previous visit, and so may be a soft
// 404.
func (b *Book) Turned(ctx context.Context, url string) error {
	if b.Exempt[hostOf(url)] {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return err
	}
	if s := e.site.softOf(Shape(url)); s != nil {
		e.dirty = true
		s.turned(url)
		e.site.suspect(s, []string{url})
	}
	return nil
}

// Follows records that a previously judged page has become a duplicate of a different leader.
func (b *Book) Follows(ctx context.Context, url, leader string) error {
	if b.Exempt[hostOf(url)] || isMirrored(url, leader) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return err
	}
	e.dirty = true
	e.site.doubt(addressOf(url), &Verdict{Leader: leader})
	return nil
}

// Defaults returns the URLs of pages that a server may show when it ignores unknown values of
// parameters. These are the probe without its replaced parameters, and the probe without any
// parameters.
func (b *Book) Defaults(ctx context.Context, probe string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(probe))
	if err != nil {
		return nil, err
	}
	if s := e.site.pending(probe); s != nil {
		return s.defaults(), nil
	}
	return nil, nil
}

// Soft returns how the host responds to URLs of url's pattern that cannot exist. The result ok is
// false if there is no response yet, or if the response is a real error.
func (b *Book) Soft(ctx context.Context, url string) (s Soft, ok bool, err error) {
	host := hostOf(url)
	if b.Exempt[host] {
		return s, false, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err != nil {
		return s, false, err
	}
	known := e.site.answer(url)
	if known == nil {
		return s, false, nil
	}
	return known.copied(), true, nil
}

// copied returns a copy without the evidence.
func (s *Soft) copied() Soft {
	c := *s
	c.Turned, c.Others = slices.Clone(s.Turned), slices.Clone(s.Others)
	c.Said, c.Alike, c.Thin, c.Titles = nil, nil, nil, nil
	return c
}

// Said records which stored pages of url's pattern have the same text as the response to its probe.
// It returns those that are soft 404s.
func (b *Book) Said(ctx context.Context, url string, said []string) (counts []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return nil, err
	}
	s := e.site.answer(url)
	if s == nil {
		return nil, nil
	}
	e.dirty = true
	return s.hold(said), nil
}
