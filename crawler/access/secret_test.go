package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSecrets prints a host in many ways, and checks that its secrets are not in the output.
func TestSecrets(t *testing.T) {
	const word = "sesame"
	h := Host{
		Headers: map[string]Secret{"X-Token": word},
		Cookies: Cookies{{Name: "a", Value: word}},
		Basic:   &Basic{word, word},
		Login:   &Login{Fields: map[string]Secret{"password": word}},
		Proxies: []Proxy{NewProxy(&url.URL{Scheme: "http", Host: "proxy:1", User: url.UserPassword("me", word)})},
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{h, &h, h.Headers, h.Cookies, *h.Basic, h.Basic, h.Login, *h.Login, h.Proxies, h.Basic.User, &h.Basic.User} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("host", "host", h, "secret", h.Basic.User)
	slog.New(slog.NewTextHandler(&out, nil)).Info("host", "host", h, "secret", h.Basic.User)
	for _, found := range []string{word, fmt.Sprintf("%x", word)} {
		if strings.Contains(out.String(), found) {
			t.Errorf("a secret was printed as %s:\n%s", found, out.String())
		}
	}
	if !strings.Contains(string(text), `"X-Token":"***"`) || !strings.Contains(string(text), `"http://***@proxy:1"`) {
		t.Errorf("json: %s", text)
	}
	if got := h.Proxies[0].URL().String(); got != "http://me:"+word+"@proxy:1" {
		t.Errorf("the URL of a proxy is %s", got)
	}
	var _ []*http.Cookie = h.Cookies
}
