package redis

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"skink/store"
)

// Named values are in one hash of the store, m.

var swapScript = newScript("swap.lua")

// Meta returns a named value.
func (s *Store) Meta(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	value, err := s.do(ctx, s.B().Hget().Key(s.global("m")).Field(name).Build())[0].ToString()
	switch {
	case rueidis.IsRedisNil(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, explain(err))
	}
	return append([]byte{}, value...), nil // never nil: an empty value was set
}

// SetMeta sets a named value.
func (s *Store) SetMeta(ctx context.Context, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.do(ctx, s.B().Hset().Key(s.global("m")).FieldValue().FieldValue(name, string(value)).Build())[0].Error(); err != nil {
		return fmt.Errorf("write %s: %w", name, explain(err))
	}
	return nil
}

// SwapMeta sets a named value that is still what it was.
func (s *Store) SwapMeta(ctx context.Context, name string, old, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	was := "0"
	if old != nil {
		was = "1"
	}
	swapped, err := s.eval(ctx, call{swapScript, []string{s.global("m")}, []string{name, was, string(old), string(value)}})[0].AsInt64()
	switch {
	case err != nil:
		return fmt.Errorf("write %s: %w", name, explain(err))
	case swapped == 0:
		return store.ErrChanged
	}
	return nil
}
