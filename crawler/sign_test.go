package crawler

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/crawler/access"
	"skink/crawler/signature"
)

var signedInput = regexp.MustCompile(`^skink=(\("@method" "@authority" "@path" "signature-agent";key="skink"\);created=\d+;expires=\d+;keyid="[^"]+";alg="ed25519";nonce="([^"]+)";tag="web-bot-auth")$`)

// verifySigned checks the signature of a request that a server has received, as the draft requires.
// It returns the nonce.
func verifySigned(public ed25519.PublicKey, r *http.Request) (nonce string, err error) {
	in := signedInput.FindStringSubmatch(r.Header.Get("Signature-Input"))
	if in == nil {
		return "", fmt.Errorf("Signature-Input %q", r.Header.Get("Signature-Input"))
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	agent, _ := strings.CutPrefix(r.Header.Get("Signature-Agent"), "skink=")
	text := fmt.Sprintf("\"@method\": %s\n\"@authority\": %s\n\"@path\": %s\n\"signature-agent\";key=\"skink\": %s\n\"@signature-params\": %s",
		r.Method, r.Host, path, agent, in[1])
	sig, err := base64.StdEncoding.DecodeString(strings.Trim(strings.TrimPrefix(r.Header.Get("Signature"), "skink="), ":"))
	if err == nil && !ed25519.Verify(public, []byte(text), sig) {
		err = fmt.Errorf("the signature does not fit %q", text)
	}
	return in[2], err
}

// Every request of a crawl has a signature of its own, including those for robots.txt, sitemaps,
// checks with HEAD, and redirects to other hosts. Requests to a host whose settings turn signing
// off have none.
func TestSigned(t *testing.T) {
	key, err := signature.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	var published struct{ Keys []struct{ X string } }
	if err := json.Unmarshal(signature.Directory(key), &published); err != nil {
		t.Fatal(err)
	}
	public, err := base64.RawURLEncoding.DecodeString(published.Keys[0].X)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := signature.NewSigner(key, "https://crawler.example")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	nonces := map[string]string{}
	var asked []string
	signed := func(name string, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			what := r.Method + " " + name + r.URL.Path
			asked = append(asked, what)
			nonce, err := verifySigned(public, r)
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if before, again := nonces[nonce]; again {
				t.Errorf("%s repeats the signature of %s", what, before)
			}
			nonces[nonce] = what
			next(w, r)
		}
	}
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Signature") {
				t.Errorf("the host without signatures got %s", name)
			}
		}
	})
	other := serve(t, signed("other", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
		}
	}))
	site := serve(t, signed("site", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt", "/sitemap.xml":
			http.NotFound(w, r)
		case "/moved":
			http.Redirect(w, r, "http://"+other+"/new?a=1", http.StatusFound)
		case "/p.png":
			w.Header().Set("Content-Type", "image/png")
		default:
			fmt.Fprintf(w, `<a href=/moved><a href=/b%%7Cc|d?q><a href=http://%s/>`, plain)
		}
	}))
	opt := Options{
		CheckAssets: true, AllowHosts: []string{plain, other, site}, Signer: signer, Sitemaps: true,
		Hosts: access.Table{{Pattern: plain, Sign: new(bool)}},
		Scope: newScope(t, ScopeHost, nil, nil, "http://"+site+"/", "http://"+other+"/", "http://"+plain+"/"),
	}
	err = walk(t.Context(), []string{"http://" + site, "http://" + plain}, opt, func(p *Page) (Links, error) {
		links := found(p)
		links.Targets, links.Files = true, slices.Values([]string{"/p.png"})
		return links, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"GET site/robots.txt", "GET site/", "HEAD site/p.png", "GET site/moved", "GET other/robots.txt", "GET other/new"} {
		if !slices.Contains(asked, what) {
			t.Errorf("%s is not among %q", what, asked)
		}
	}
}
