package warc

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
)

// A Digest is a hash algorithm for the digests of blocks and payloads in record headers.
type Digest string

const (
	SHA256 Digest = "sha256" // in hex, as WACZ requires
	SHA1   Digest = "sha1"   // in base32, as in most archives
)

// Of returns the digest of b in the format of record headers, such as
// "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".
func (d Digest) Of(b []byte) string {
	if d == SHA1 {
		sum := sha1.Sum(b)
		return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// payload returns the part of an HTTP message that the payload digest of its record covers:
// everything after the first empty line, which ends the head.
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
