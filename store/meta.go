package store

import (
	"bytes"
	"context"
	"errors"
)

// MaxMeta is the maximum size in bytes at which every store writes a [Meta] value in one piece.
const MaxMeta = 256 << 10

// Learned is the prefix of the names of values that a crawl learns again if they are lost. A store
// may protect them less than other values.
const Learned = "learned/"

// A MetaReader reads named values.
type MetaReader interface {
	// Meta returns the value with the given name, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// Meta stores named values, such as settings, seeds, and the positions of feeds. A value may have any
// size, but most are small, and a store keeps each one as a whole.
type Meta interface {
	MetaReader
	// SetMeta sets the value with the given name.
	SetMeta(ctx context.Context, name string, value []byte) error
	// SwapMeta atomically replaces the value of name if it still equals old. If old is nil, the
	// value must never have been set. If the value differs from old, SwapMeta writes nothing and
	// returns [ErrChanged].
	SwapMeta(ctx context.Context, name string, old, value []byte) error
}

// ErrChanged means that another process has changed the value since the caller read it.
var ErrChanged = errors.New("the value was changed by another process")

// SameMeta reports whether two values returned by [Meta.Meta] are equal. A nil value means that the
// name was never set, and differs from an empty value.
func SameMeta(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
