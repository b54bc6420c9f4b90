package crawler

import (
	"context"
	"net/http"
	"time"

	"skink/crawler/wire"
)

// request makes the request for a canonical URL, with a header that it does not change. It adds what
// depends on the host. Each hop of a redirect is a request of its own, so a host never gets what is
// meant for another host.
func (f *fetcher) request(ctx context.Context, method, url string, header http.Header) (*http.Request, error) {
	r, err := wire.NewRequest(ctx, url, header)
	if err != nil {
		return nil, err
	}
	r.Method = method
	host := f.opt.Hosts.For(r.Host)
	if s := f.opt.Signer; s != nil && (host.Sign == nil || *host.Sign) {
		r.Header = r.Header.Clone()
		if err := s.Sign(r, time.Now()); err != nil {
			return nil, err
		}
	}
	return r, nil
}
