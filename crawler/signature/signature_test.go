package signature

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// testKey is test-key-ed25519 of RFC 9421, appendix B.1.4.
const testKey = `{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519",
	"d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`

func testingKey(t *testing.T) Key {
	t.Helper()
	k, err := ParseKey([]byte(testKey))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestVectors(t *testing.T) {
	for _, test := range []struct {
		name    string
		covered []component
		params  string // the parameters after the list of components
		want    string
	}{
		{
			name: "RFC 9421, appendix B.2.6",
			covered: []component{
				{`"date"`, "Tue, 20 Apr 2021 02:07:55 GMT"},
				{`"@method"`, "POST"},
				{`"@path"`, "/foo"},
				{`"@authority"`, "example.com"},
				{`"content-type"`, "application/json"},
				{`"content-length"`, "18"},
			},
			params: `;created=1618884473;keyid="test-key-ed25519"`,
			want:   "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
		},
		{
			name: "draft-ietf-webbotauth-httpsig-protocol, Signature-Agent of Ed25519",
			covered: []component{
				{`"@authority"`, "example.com"},
				{`"signature-agent";key="agent2"`, `"https://signature-agent.test"`},
			},
			params: `;created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600` +
				`;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"`,
			want: "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
		},
	} {
		if got := testingKey(t).sign(base(test.covered, list(test.covered)+test.params)); got != test.want {
			t.Errorf("%s: signature %s, want %s", test.name, got, test.want)
		}
	}
}

// The expected thumbprint is from the draft, which uses the same test key.
func TestThumbprint(t *testing.T) {
	if got, want := testingKey(t).Thumbprint(), "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"; got != want {
		t.Errorf("thumbprint %s, want %s", got, want)
	}
	k, err := ParseKey([]byte(`{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := k.Thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; got != want {
		t.Errorf("thumbprint of RFC 8037: %s, want %s", got, want)
	}
}

// field matches a Signature-Input field, and captures its parts.
var field = regexp.MustCompile(`^skink=(\((.*)\);created=(\d+);expires=(\d+);keyid="([^"]*)";alg="ed25519";nonce="([^"]*)";tag="web-bot-auth")$`)

func TestSign(t *testing.T) {
	s, err := NewSigner(testingKey(t), "https://Crawler.example/")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	nonces := make(map[string]bool)
	for _, test := range []struct {
		method    string
		url       *url.URL
		authority string
		path      string
	}{
		{"GET", &url.URL{Scheme: "https", Host: "Example.com:443", Path: "/a b", RawQuery: "q=1"}, "example.com", "/a%20b"},
		{"HEAD", &url.URL{Scheme: "http", Host: "example.com:443"}, "example.com:443", "/"},
		{"GET", &url.URL{Scheme: "http", Host: "example.com", Opaque: "/a/b%7Cc?x"}, "example.com", "/a/b%7Cc"},
		{"GET", &url.URL{Scheme: "http", Host: "example.com", Opaque: "//example.com//x?y"}, "example.com", "//x"},
	} {
		r := &http.Request{Method: test.method, URL: test.url, Host: test.url.Host, Header: http.Header{"Signature": {"old"}}}
		if err := s.Sign(r, now); err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("Signature-Agent"); got != `skink="https://crawler.example"` {
			t.Errorf("%s: Signature-Agent %s", test.url, got)
		}
		found := field.FindStringSubmatch(r.Header.Get("Signature-Input"))
		if found == nil {
			t.Errorf("%s: Signature-Input %s", test.url, r.Header.Get("Signature-Input"))
			continue
		}
		if found[3] != "1800000000" || found[4] != "1800000300" || found[5] != s.Key.Thumbprint() || nonces[found[6]] {
			t.Errorf("%s: parameters %q", test.url, found[3:])
		}
		nonces[found[6]] = true
		text := fmt.Sprintf("\"@method\": %s\n\"@authority\": %s\n\"@path\": %s\n\"signature-agent\";key=\"skink\": \"https://crawler.example\"\n\"@signature-params\": %s",
			test.method, test.authority, test.path, found[1])
		signature := strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Signature"), "skink=:"), ":")
		raw, err := base64.StdEncoding.DecodeString(signature)
		if err != nil || !ed25519.Verify(s.Key.private.Public().(ed25519.PublicKey), []byte(text), raw) {
			t.Errorf("%s: signature %s does not fit\n%s", test.url, r.Header.Get("Signature"), text)
		}
	}
}

func TestNewSigner(t *testing.T) {
	for _, origin := range []string{"", "crawler.example", "http://crawler.example", "https://", "https://u@crawler.example", "https://crawler.example/keys", "https://crawler.example?x"} {
		if _, err := NewSigner(Key{}, origin); err == nil {
			t.Errorf("%q was accepted", origin)
		}
	}
}

func TestKeys(t *testing.T) {
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseKey(k.PEM())
	if err != nil || again.Thumbprint() != k.Thumbprint() {
		t.Errorf("a key as PEM and back: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", k, k, k, k); text != "*** *** *** ***" {
		t.Errorf("a key prints as %s", text)
	}
	for _, text := range []string{"", "x", "{}", `{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`,
		strings.Replace(testKey, "JrQL", "JrQM", 1), "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := ParseKey([]byte(text)); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}

func TestDirectory(t *testing.T) {
	var set struct{ Keys []map[string]string }
	text := Directory(testingKey(t))
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	want := map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs", "use": "sig"}
	for name, value := range want {
		if set.Keys[0][name] != value {
			t.Errorf("%s is %q, want %q", name, set.Keys[0][name], value)
		}
	}
	if len(set.Keys[0]) != len(want) {
		t.Errorf("the directory says more: %s", text)
	}
}
