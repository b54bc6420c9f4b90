package warc

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
)

// A Digest is an algorithm for the digests of blocks and payloads.
type Digest string

const (
	SHA256 Digest = "sha256" // in hex, as WACZ wants it
	SHA1   Digest = "sha1"   // in base32, as most archives have it
)

// Of returns the digest of some bytes as a header contains it, such as
// "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".
func (d Digest) Of(b []byte) string {
	if d == SHA1 {
		sum := sha1.Sum(b)
		return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// payload returns the part of an HTTP message that its payload digest covers: everything behind the
// head, which ends with the first empty line.
func payload(message []byte) []byte {
	for len(message) > 0 {
		line, rest, _ := bytes.Cut(message, []byte("\n"))
		message = rest
		if len(bytes.TrimRight(line, "\r")) == 0 {
			break
		}
	}
	return message
}
