package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the digest of a block or payload in the format of record headers: "sha256:" and hex, as WACZ requires.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// payload returns the part of an HTTP message that the payload digest of its record covers:
// everything after the first empty line, which ends the head.
func payload(message []byte) []byte {
	for line := message; len(line) > 0 && len(message) > 0; line = bytes.TrimRight(line, "\r") {
		line, message, _ = bytes.Cut(message, []byte("\n"))
	}
	return message
}
