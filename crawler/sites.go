package crawler

import (
	"context"
	"net/url"
)

// Sites remembers each host that has received an https request, because secrets must not be sent to
// it with http later, also if the user adds these secrets only then. A host is stored before the
// request is sent. So the next run knows it even if this one is killed, and so do other workers.
type Sites interface {
	// Secure reports whether a host has received an https request.
	Secure(ctx context.Context, host string) (bool, error)
	// SetSecure stores that a host receives an https request.
	SetSecure(ctx context.Context, host string) error
}

// trusts reports whether the secrets of a host may be sent with a request for a URL. They may be
// sent with https. With http, they may be sent only if no https URL of the host is a seed or has
// been requested before, in this run or an earlier one, by this worker or another. trusts asks the
// store before each http request, and before the first https request of a host.
func (s *cookieStore) trusts(ctx context.Context, u *url.URL) (trusted bool, err error) {
	name := u.Hostname()
	s.mu.Lock()
	known := s.secure[name]
	s.mu.Unlock()
	https := u.Scheme == "https"
	switch {
	case known, s.seeds[name] && !https:
		return https, nil
	case s.opt.Sites == nil:
		known = https
	case https:
		known, err = true, s.opt.Sites.SetSecure(ctx, name)
	default:
		known, err = s.opt.Sites.Secure(ctx, name)
	}
	if err != nil {
		return false, err
	}
	if known {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.secure[name] = true
	}
	return https || !known, nil
}
