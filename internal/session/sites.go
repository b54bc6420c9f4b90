package session

import (
	"context"
	"errors"

	"skink/store"
)

// sites stores what a crawl remembers of sites as values of a store; see [crawler.Sites].
type sites struct{ store.Meta }

func nameOfSite(domain string) string { return "site/" + domain }

func (s sites) ReadSite(ctx context.Context, domain string) ([]byte, error) {
	return s.Meta.Meta(ctx, nameOfSite(domain))
}

func (s sites) ChangeSite(ctx context.Context, domain string, change func(old []byte) []byte) error {
	for {
		old, err := s.ReadSite(ctx, domain)
		if err == nil {
			err = s.SwapMeta(ctx, nameOfSite(domain), old, change(old))
		}
		if !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}
