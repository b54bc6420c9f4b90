package view

import (
	"net/http"
	"strings"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
)

// The address that is printed answers requests, even if the server listens on all interfaces.
func TestShownAddress(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "127.0.0.1:0"} {
		opt := Options{Store: lent{storetest.NewMemory()}, Name: "test", Rule: dedup.Rule{}, Address: address}
		server, err := Listen(address, opt)
		if err != nil {
			t.Logf("%s: %v", address, err) // the machine has no IPv6
			continue
		}
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := client.Get(server.url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusSeeOther || strings.Contains(server.url, "0.0.0.0") || strings.Contains(server.url, "[::]") {
			t.Errorf("%s is shown at %s, which answers %s", address, server.url, resp.Status)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}
