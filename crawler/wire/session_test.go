package wire

import (
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// secureServer starts a server that ends each connection after one response, and counts the handshakes that resumed a session.
func secureServer(t testing.TB, tickets bool) (server *httptest.Server, roots *x509.CertPool, resumed *atomic.Int64) {
	resumed = new(atomic.Int64)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.DidResume {
			resumed.Add(1)
		}
	}))
	server.Config.SetKeepAlivesEnabled(false)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	server.TLS.SessionTicketsDisabled = !tickets
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, roots, resumed
}

func secureGet(t testing.TB, tr *Transport, url string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tr.Do(&Exchange{Request: r, Limit: func(http.Header) int64 { return 1 }})
}

// TestSessionsAreResumed checks that later connections to a host resume its TLS session, and that a session whose certificate
// was not verified is not resumed where it must be.
func TestSessionsAreResumed(t *testing.T) {
	server, roots, resumed := secureServer(t, true)
	tr := New(Options{Timeout: 5 * time.Second, Roots: roots, AllowHosts: []string{"127.0.0.1"}})
	for range 3 {
		if err := secureGet(t, tr, server.URL); err != nil {
			t.Fatal(err)
		}
	}
	if n := resumed.Load(); n != 2 {
		t.Errorf("%d of three handshakes resumed a session, want 2", n)
	}

	var insecure atomic.Bool
	insecure.Store(true)
	tr = New(Options{Timeout: 5 * time.Second, Roots: x509.NewCertPool(), AllowHosts: []string{"127.0.0.1"}, Insecure: func(string) bool { return insecure.Load() }})
	if err := secureGet(t, tr, server.URL); err != nil {
		t.Fatal(err)
	}
	insecure.Store(false)
	if err := secureGet(t, tr, server.URL); !errors.As(err, new(*HandshakeError)) {
		t.Errorf("a session without verification was resumed: %v", err)
	}
}

// BenchmarkHandshake measures the processor time of both ends for a request on a new connection.
func BenchmarkHandshake(b *testing.B) {
	for name, tickets := range map[string]bool{"full": false, "resumed": true} {
		b.Run(name, func(b *testing.B) {
			server, roots, _ := secureServer(b, tickets)
			tr := New(Options{Timeout: 5 * time.Second, Roots: roots, AllowHosts: []string{"127.0.0.1"}})
			b.ReportAllocs()
			for b.Loop() {
				if err := secureGet(b, tr, server.URL); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
