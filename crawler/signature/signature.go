// Package signature signs HTTP requests, so that a site can tell who sends them (Web Bot Auth).
//
// Start with a [Key] from [NewKey] or [ParseKey]. A [Signer] signs requests with the key:
//
//	s := &signature.Signer{Key: key, Agent: "https://crawler.example"}
//	err := s.Sign(request, time.Now())
//
// The owner of the key publishes the result of [Directory] at [DirectoryPath] on the agent's site.
// Other sites fetch this directory, and check signatures with it.
//
// # Sources
//
// Signatures follow RFC 9421 (HTTP Message Signatures) with Ed25519 (RFC 8032), as profiled by
// draft-ietf-webbotauth-httpsig-protocol in its 2026 revision. Earlier drafts sent Signature-Agent
// as a string. This package sends the dictionary that the current draft requires. Key IDs are JWK
// thumbprints (RFC 7638, RFC 8037 appendix A.3).
//
// A signature covers the method, the authority and the path. It does not cover the query, because
// caches may reorder its parameters. It has a random nonce, and expires after [Lifetime]. Until
// then, anyone who sees a request can send it again, but only to the same site and path.
//
// The package verifies nothing, and reads no files.
package signature

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Lifetime is how long a signature is valid. It is long enough for clocks that differ by a few
// minutes.
const Lifetime = 5 * time.Minute

// label is the name of the signature in the header fields Signature, Signature-Input and
// Signature-Agent.
const label = "skink"

// A Signer signs requests. Several goroutines may use it.
type Signer struct {
	Key   Key
	Agent string // the https origin that publishes the key, such as "https://crawler.example"
}

// NewSigner returns a signer for the agent that publishes the key at an origin. It fails unless
// origin is an https URL with a host and without a path.
func NewSigner(key Key, origin string) (*Signer, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the address of a site: try https://crawler.example", origin)
	}
	return &Signer{Key: key, Agent: "https://" + strings.ToLower(u.Host)}, nil
}

// Sign sets the header fields Signature-Agent, Signature-Input and Signature of a request. It fails
// only if the system's random source fails.
func (s *Signer) Sign(r *http.Request, now time.Time) error {
	nonce := make([]byte, 32)
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	covered := []component{
		{`"@method"`, r.Method},
		{`"@authority"`, authority(r)},
		{`"@path"`, path(r)},
		{`"signature-agent";key="` + label + `"`, quoted(s.Agent)},
	}
	params := list(covered) +
		";created=" + strconv.FormatInt(now.Unix(), 10) +
		";expires=" + strconv.FormatInt(now.Add(Lifetime).Unix(), 10) +
		";keyid=" + quoted(s.Key.Thumbprint()) +
		`;alg="ed25519"` +
		";nonce=" + quoted(base64.StdEncoding.EncodeToString(nonce)) +
		`;tag="web-bot-auth"`
	r.Header.Set("Signature-Agent", label+"="+quoted(s.Agent))
	r.Header.Set("Signature-Input", label+"="+params)
	r.Header.Set("Signature", label+"=:"+s.Key.sign(base(covered, params))+":")
	return nil
}

// A component is a part of a request that a signature covers (RFC 9421, section 2).
type component struct {
	name  string // component identifier, with quotes and parameters
	value string
}

// base returns the text to be signed (RFC 9421, section 2.5). The argument params contains the
// list of components, followed by the parameters of the signature.
func base(covered []component, params string) string {
	var b strings.Builder
	for _, c := range covered {
		b.WriteString(c.name + ": " + c.value + "\n")
	}
	b.WriteString(`"@signature-params": ` + params)
	return b.String()
}

// list returns the identifiers of components as an inner list (RFC 9421, section 2.3).
func list(covered []component) string {
	names := make([]string, len(covered))
	for i, c := range covered {
		names[i] = c.name
	}
	return "(" + strings.Join(names, " ") + ")"
}

// authority returns the host of a request in lower case, with its port unless that is the default
// port of the scheme (RFC 9421, section 2.2.3).
func authority(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if host == "" {
		host = strings.ToLower(r.URL.Host)
	}
	usual := map[string]string{"http": ":80", "https": ":443"}[r.URL.Scheme]
	if usual == "" {
		return host
	}
	return strings.TrimSuffix(host, usual)
}

// path returns the path of a request as sent, without its query (RFC 9421, section 2.2.6).
func path(r *http.Request) string {
	target := r.URL.RequestURI()
	if _, rest, ok := strings.Cut(target, "://"); ok { // the target is in the absolute form
		_, target, _ = strings.Cut(rest, "/")
		target = "/" + target
	}
	target, _, _ = strings.Cut(target, "?")
	return target
}

// quoted returns s as a structured-field String (RFC 9651, section 4.1.6).
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// sign returns the signature of text, encoded in base64.
func (k Key) sign(text string) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, []byte(text)))
}
