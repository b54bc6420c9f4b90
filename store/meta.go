package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Learned is the prefix of the names of values that a crawl learns again if they are lost. A store
// may protect them less than other values.
const Learned = "learned/"

// A MetaReader reads named values.
type MetaReader interface {
	// Meta returns the value with the given name, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// A MetaSwapper reads and replaces named values.
type MetaSwapper interface {
	MetaReader
	// SwapMeta atomically replaces the value of name if it still equals old. If old is nil, the
	// value must never have been set. If the value differs from old, SwapMeta writes nothing and
	// returns [ErrChanged].
	SwapMeta(ctx context.Context, name string, old, value []byte) error
}

// Meta stores named values, such as settings, seeds, and the positions of feeds. A value may have any
// size, but most are small, and a store keeps each one as a whole.
type Meta interface {
	MetaSwapper
	// SetMeta sets the value with the given name.
	SetMeta(ctx context.Context, name string, value []byte) error
}

// SameMeta reports whether two values returned by [Meta.Meta] are equal. A nil value means that the
// name was never set, and differs from an empty value.
func SameMeta(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// ReadMeta returns a value that is stored as JSON, or nil if it was never set. The argument what names
// the value in errors.
func ReadMeta[T any](ctx context.Context, s MetaReader, name, what string) (*T, error) {
	text, err := s.Meta(ctx, name)
	if err != nil {
		return nil, err
	}
	return parseMeta[T](text, what)
}

// MetaValue is like ReadMeta, but returns the zero value if the value was never set.
func MetaValue[T any](ctx context.Context, s MetaReader, name, what string) (value T, err error) {
	stored, err := ReadMeta[T](ctx, s, name, what)
	if stored != nil {
		value = *stored
	}
	return value, err
}

func parseMeta[T any](text []byte, what string) (*T, error) {
	if len(text) == 0 {
		return nil, nil
	}
	value := new(T)
	if err := json.Unmarshal(text, value); err != nil {
		return nil, fmt.Errorf("read %s: %w: %v", what, ErrCorrupt, err)
	}
	return value, nil
}

// WriteMeta stores a value as JSON.
func WriteMeta(ctx context.Context, s interface {
	SetMeta(ctx context.Context, name string, value []byte) error
}, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.SetMeta(ctx, name, text)
}

// ChangeMeta replaces a value that is stored as JSON by the result of change, which gets nil if the
// value was never set. If the result is nil, ChangeMeta writes nothing. If another process changes
// the value at the same time, ChangeMeta begins again with the new one.
func ChangeMeta[T any](ctx context.Context, s MetaSwapper, name, what string, change func(old *T) (*T, error)) error {
	for {
		text, err := s.Meta(ctx, name)
		if err != nil {
			return err
		}
		old, err := parseMeta[T](text, what)
		if err != nil {
			return err
		}
		value, err := change(old)
		if err != nil || value == nil {
			return err
		}
		next, err := json.Marshal(value)
		if err != nil || bytes.Equal(next, text) {
			return err
		}
		if err := s.SwapMeta(ctx, name, text, next); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}
