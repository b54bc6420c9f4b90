package store

import (
	"bytes"
	"context"
	"errors"
)

// MostMeta is the maximum size of a [Meta] value, in bytes.
const MostMeta = 256 << 10

// A MetaReader reads named values.
type MetaReader interface {
	// Meta returns a value, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// Meta keeps small named values of at most [MostMeta] bytes: settings, seeds, the positions of feeds.
type Meta interface {
	MetaReader
	// SetMeta sets a value.
	SetMeta(ctx context.Context, name string, value []byte) error
	// SwapMeta replaces the value of name if it still equals old, in one step. If old is nil, the
	// name must not have been set before. If the value differs from old, SwapMeta writes nothing
	// and returns [ErrChanged].
	SwapMeta(ctx context.Context, name string, old, value []byte) error
}

// ErrChanged means that another process set the value after the caller read it.
var ErrChanged = errors.New("the value was changed by another process")

// SameMeta reports whether a and b, as [Meta.Meta] returns them, are equal. A nil value means that the
// name was never set, and differs from an empty value.
func SameMeta(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
