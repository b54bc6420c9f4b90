package store

import (
	"bytes"
	"context"
	"errors"
)

// Meta keeps small named values: settings, seeds, the marks of feeds.
type Meta interface {
	// Meta returns a value, nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
	// SetMeta sets a value.
	SetMeta(ctx context.Context, name string, value []byte) error
	// SwapMeta sets a value that is still old. An old of nil stands for a value that was never set.
	// If the value is not old, SwapMeta writes nothing and returns [ErrChanged].
	SwapMeta(ctx context.Context, name string, old, value []byte) error
}

// ErrChanged means that another process set the value after the caller read it.
var ErrChanged = errors.New("the value was changed by another process")

// SameMeta reports whether two values of Meta are the same. A value that was never set, nil,
// differs from an empty one.
func SameMeta(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
