package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
)

const (
	// DirectoryPath is the path at which a site publishes its keys.
	DirectoryPath = "/.well-known/http-message-signatures-directory"

	// DirectoryType is the media type that the directory must be served with.
	DirectoryType = "application/http-message-signatures-directory+json"
)

// A Key is a private Ed25519 key. It prints as "***".
type Key struct{ private ed25519.PrivateKey }

// NewKey returns a random key.
func NewKey() (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return Key{private}, err
}

// ParseKey parses a key in PEM (PKCS #8, as "openssl genpkey -algorithm ed25519" writes it) or as a
// JWK with the private part. The error does not contain the text.
func ParseKey(text []byte) (Key, error) {
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("{")) {
		return parseJWK(text)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return Key{}, errors.New("no private key in PEM format: make one with skink key new")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Key{}, errors.New("the PEM block is not a PKCS #8 key: make one with skink key new")
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return Key{}, errors.New("the key is not an Ed25519 key: make one with skink key new")
	}
	return Key{private}, nil
}

func parseJWK(text []byte) (Key, error) {
	var jwk struct{ Kty, Crv, D, X string }
	if json.Unmarshal(text, &jwk) != nil || jwk.Kty != "OKP" || jwk.Crv != "Ed25519" {
		return Key{}, errors.New("the JWK is not an Ed25519 key")
	}
	seed, err := base64.RawURLEncoding.DecodeString(jwk.D)
	if err != nil || len(seed) != ed25519.SeedSize {
		return Key{}, errors.New("the JWK has no private part (d)")
	}
	k := Key{ed25519.NewKeyFromSeed(seed)}
	if jwk.X != "" && jwk.X != k.public() {
		return Key{}, errors.New("the parts d and x of the JWK belong to different keys")
	}
	return k, nil
}

// PEM returns the private key in PEM (PKCS #8). The result is secret.
func (k Key) PEM() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		panic(err) // cannot happen with an Ed25519 key
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// String returns "***", so no message shows the key.
func (k Key) String() string { return "***" }

// GoString returns "***", so no message shows the key.
func (k Key) GoString() string { return "***" }

// public returns the public part in base64url.
func (k Key) public() string {
	return base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// Thumbprint returns the SHA-256 thumbprint of the public part in base64url (RFC 7638). It
// identifies the key in signatures.
func (k Key) Thumbprint() string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + k.public() + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// A jwk is the public part of a key (RFC 8037).
type jwk struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	Kid string `json:"kid"`
	X   string `json:"x"`
	Use string `json:"use"`
}

// Directory returns the JSON Web Key Set (RFC 7517) with the public part of each key. To replace a
// key without a gap, publish the old key and the new one together for a few days.
func Directory(keys ...Key) []byte {
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for _, k := range keys {
		set.Keys = append(set.Keys, jwk{"OKP", "Ed25519", k.Thumbprint(), k.public(), "sig"})
	}
	text, err := json.MarshalIndent(set, "", "  ")
	if err != nil {
		panic(err) // marshaling strings cannot fail
	}
	return append(text, '\n')
}
