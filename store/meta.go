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
	// SwapMeta sets a value if it is still old; nil: if it was never set. If it is
	// not, nothing is written and the error is [ErrChanged].
	SwapMeta(ctx context.Context, name string, old, value []byte) error
}

// ErrChanged: somebody else set a value since it was read.
var ErrChanged = errors.New("the value was changed by another process")

// SameMeta says whether two values of Meta are the same: one that was never set
// is not the empty one.
func SameMeta(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
