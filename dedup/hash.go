package dedup

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Hash identifies a text or a URL. It is the first 128 bits of the SHA-256 digest, written as
// lower-case hex. Anyone can recompute a SHA-256, and forging one is infeasible. With 128 bits, a
// chance collision needs some 10^19 pages.
type Hash [16]byte

// HashOf returns the hash of b.
func HashOf(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(sum[:16])
}

// IsZero reports whether h is the zero value, which means that it was not set.
func (h Hash) IsZero() bool { return h == Hash{} }

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns h as 32 lower-case hex digits, so that people can compare hashes in JSON.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText sets h from 32 hex digits, as [Hash.MarshalText] returns them.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 2*len(h) {
		return hex.ErrLength
	}
	_, err := hex.Decode(h[:], b)
	return err
}
