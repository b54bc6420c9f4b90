package session

import (
	"context"

	"skink/store"
)

// sites stores as values of a store which hosts get secrets only with https; see [crawler.Sites].
type sites struct{ store.Meta }

func nameOfSite(host string) string { return "site/https://" + host }

func (s sites) Secure(ctx context.Context, host string) (bool, error) {
	value, err := s.Meta.Meta(ctx, nameOfSite(host))
	return value != nil, err
}

func (s sites) SetSecure(ctx context.Context, host string) error {
	return s.SetMeta(ctx, nameOfSite(host), []byte("1"))
}
