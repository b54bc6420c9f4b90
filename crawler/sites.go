package crawler

import (
	"context"
	"net/url"
)

// Sites remembers each host that has received an https request, because secrets must not be sent to
// it with http later, also if the user adds these secrets only then. A host is stored before the
// request is sent. So the next run knows it even if this one is killed, and so do other workers.
//
// A store implements Sites: the value for a host is not nil if the host has received one.
type Sites interface {
	Meta(ctx context.Context, name string) ([]byte, error)
	SetMeta(ctx context.Context, name string, value []byte) error
}

const secureSite = "site/https://" // beginning of the names of values

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
		known, err = true, s.opt.Sites.SetMeta(ctx, secureSite+name, []byte("1"))
	default:
		value, readErr := s.opt.Sites.Meta(ctx, secureSite+name)
		known, err = value != nil, readErr
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
