package session

import (
	"context"
	"encoding/json"
	"fmt"

	"skink/crawler"
	"skink/store"
)

const cookiesName = "cookies"

func keptCookies(ctx context.Context, s store.Reader) (all []crawler.KeptCookie, err error) {
	text, err := s.Meta(ctx, cookiesName)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read the cookies of the store: %w", err)
	}
	return all, nil
}

func keepCookies(ctx context.Context, s store.Store, all []crawler.KeptCookie) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return s.SetMeta(ctx, cookiesName, text)
}
