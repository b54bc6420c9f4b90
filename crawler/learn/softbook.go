package learn

import "context"

// Probe returns a URL that cannot exist and should be requested from the host of url, or "" if
// there is none now. The result from is the page whose URL it was made from. Probe returns each such
// URL once per process. If there was no response, a later process requests the URL again.
func (b *Book) Probe(ctx context.Context, url string) (probe, from string, err error) {
	err = b.use(ctx, hostOf(url), func(e *entry) {
		for _, pattern := range e.site.Pending {
			if s := e.site.Softs[pattern]; probe == "" && !e.probed[s.Probe] {
				probe, from = s.Probe, s.From
			}
		}
		if probe == "" {
			return
		}
		if e.probed == nil {
			e.probed = map[string]bool{}
		}
		e.probed[probe] = true
	})
	return probe, from, err
}

// Probed records the response to a probe, and returns the data about it. Status 0 means that there
// was no response. If the response is a page with text, Probed also returns the judged pages that
// may have the same text. The caller must compare them and call Examined; otherwise, a later process
// requests the URL again.
func (b *Book) Probed(ctx context.Context, answer Soft) (known Soft, suspects []string, err error) {
	if answer.Status == 0 {
		return known, nil, nil
	}
	err = b.change(ctx, hostOf(answer.Probe), func(h *Host) {
		if s := h.answered(answer); s != nil {
			known, suspects = s.copied(), s.suspects()
		}
	})
	return known, suspects, err
}

// Examined records that the pages which Probed returned have been compared with the response.
func (b *Book) Examined(ctx context.Context, probe string) error {
	return b.change(ctx, hostOf(probe), func(h *Host) { h.examined(probe) })
}

// Turned records that a page has changed completely since the previous visit, and so may be a soft
// 404.
func (b *Book) Turned(ctx context.Context, url string) error {
	return b.change(ctx, hostOf(url), func(h *Host) {
		if s := h.softOf(Shape(url)); s != nil && !s.errs() {
			s.Turned = addTo(s.Turned, url, maxMembers)
			h.suspect(s, []string{url})
		}
	})
}

// Defaults returns the URLs of pages that a server may show when it ignores unknown values of
// parameters. These are the probe without its replaced parameters, and the probe without any
// parameters.
func (b *Book) Defaults(ctx context.Context, probe string) (urls []string, err error) {
	err = b.use(ctx, hostOf(probe), func(e *entry) {
		if s := e.site.pending(probe); s != nil {
			urls = s.defaults()
		}
	})
	return urls, err
}

// Soft returns how the host responds to URLs of url's pattern that cannot exist. The result ok is
// false if there is no response yet, or if the response is a real error.
func (b *Book) Soft(ctx context.Context, url string) (s Soft, ok bool, err error) {
	host := hostOf(url)
	if b.Exempt[host] {
		return s, false, nil
	}
	err = b.use(ctx, host, func(e *entry) {
		if known := e.site.answer(url); known != nil {
			s, ok = known.copied(), true
		}
	})
	return s, ok, err
}

// copied returns a copy without the evidence.
func (s *Soft) copied() Soft {
	c := *s
	c.Said, c.Alike, c.Thin, c.Titles = nil, nil, nil, nil
	return c
}

// Said records which stored pages of url's pattern have the same text as the response to its probe.
// It returns those that are soft 404s.
func (b *Book) Said(ctx context.Context, url string, said []string) (counts []string, err error) {
	err = b.change(ctx, hostOf(url), func(h *Host) {
		if s := h.answer(url); s != nil {
			counts = s.hold(said)
		}
	})
	return counts, err
}
