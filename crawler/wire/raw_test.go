package wire

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// The end of a head is found even if the head arrives in small pieces.
func TestRecorderPieces(t *testing.T) {
	const answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n"
	for size := 1; size <= len(answer); size++ {
		r := recorder{sent: []byte("GET / HTTP/1.1\r\n\r\n")}
		for rest := answer; rest != ""; {
			n := min(size, len(rest))
			r.read([]byte(rest[:n]))
			rest = rest[n:]
		}
		if want := "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"; string(r.got) != want {
			t.Errorf("in pieces of %d: %q", size, r.got)
		}
	}
}

// A second exchange uses the connection of the first after the first response has arrived, but
// before its heads are read. Each exchange has its own heads. An exchange that may not be sent does
// not change them either.
func TestRecorderOfExchange(t *testing.T) {
	connections := map[string]bool{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		w.Header().Set("X-Path", r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer site.Close()
	tr := New(Options{KeepRaw: true, AllowHosts: []string{"127.0.0.1"}})
	defer tr.CloseIdle()
	ask := func(path string, secrets ...string) (a *attempt, sent *http.Request, resp *http.Response) {
		header := http.Header{"X-Token": {"secret" + path}, "Proxy-Authorization": {"Basic secret"}}
		request, err := NewRequest(WithSecrets(t.Context(), secrets...), site.URL+path, header)
		if err != nil {
			t.Fatal(err)
		}
		a, sent = watch(request)
		if path == "/3" {
			a.repeated = true
		}
		resp, err = tr.roundTrip(sent)
		if (err != nil) != a.repeated {
			t.Fatal(err)
		}
		return a, sent, resp
	}
	a1, sent1, resp1 := ask("/1", "X-Token")
	a2, sent2, resp2 := ask("/2")
	a3, _, _ := ask("/3")
	defer a1.end()
	defer a2.end()
	defer a3.end()
	if len(connections) != 1 {
		t.Fatalf("the requests used %d connections", len(connections))
	}
	for _, x := range []struct {
		a     *attempt
		sent  *http.Request
		resp  *http.Response
		path  string
		token string
	}{{a1, sent1, resp1, "/1", "***"}, {a2, sent2, resp2, "/2", "secret/2"}} {
		raw, err := rawOf(x.a, x.sent, x.resp)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(raw.Request), "GET "+x.path+" ") || strings.Count(string(raw.Request), "GET ") != 1 || !strings.Contains(string(raw.Request), "\r\nX-Token: "+x.token+"\r\n") {
			t.Errorf("the request for %s is\n%s", x.path, raw.Request)
		}
		if strings.Contains(string(raw.Request), "Proxy-Authorization") {
			t.Errorf("the request has the password of a proxy:\n%s", raw.Request)
		}
		if !strings.Contains(string(raw.Head), "\r\nX-Path: "+x.path+"\r\n") {
			t.Errorf("the response for %s is\n%s", x.path, raw.Head)
		}
	}
	if raw, err := rawOf(a1, sent1, resp2); err == nil {
		t.Errorf("a head that net/http has not read is recorded:\n%s", raw.Head)
	}
}

// Secret values are removed whatever ends a line, and however many lines a value has.
func TestWithoutSecrets(t *testing.T) {
	ctx := WithSecrets(t.Context(), "Set-Cookie")
	for head, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nA: b\r\n\r\n":                     "HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\nset-cookie: a\nA: b\n\n":                             "HTTP/1.1 200 OK\nset-cookie: ***\nA: b\n\n",
		"HTTP/1.1 200 OK\r\nSet-Cookie: a;\r\n b\r\n\tc\r\nA: b\r\n\r\n":       "HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookie : a\r\n\r\n":                    "HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookie : ***\r\n\r\n",
		"GET / HTTP/1.1\r\nproxy-authorization: a\r\n b\r\nA: b\r\n c\r\n\r\n": "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
	} {
		if got := string(withoutSecrets(ctx, []byte(head))); got != want {
			t.Errorf("%q becomes %q, want %q", head, got, want)
		}
	}
}

// A server sends the next response together with the last one. It may be used for the next request,
// but then it must not be recorded for another.
func TestUnsolicited(t *testing.T) {
	log.SetOutput(io.Discard) // net/http reports what arrives on an idle connection
	defer log.SetOutput(os.Stderr)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		for id := r.URL.Path; ; {
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nX-Path: %s\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nX-Early: %s\r\n", id, id)
			next := make([]byte, 4<<10)
			n, err := conn.Read(next)
			if err != nil {
				return
			}
			id = strings.Fields(string(next[:n]) + " / /")[1]
			fmt.Fprint(conn, "Content-Length: 0\r\n\r\n")
		}
	}))
	defer site.Close()
	tr := New(Options{KeepRaw: true, Idle: 8, AllowHosts: []string{"127.0.0.1"}})
	defer tr.CloseIdle()
	for i := range 200 {
		request, err := NewRequest(t.Context(), fmt.Sprintf("%s/%d", site.URL, i), http.Header{})
		if err != nil {
			t.Fatal(err)
		}
		x := &Exchange{Request: request, Limit: func(http.Header) int64 { return 1 }}
		if tr.Do(x) == nil && !strings.Contains(string(x.Raw.Head), fmt.Sprintf("X-Path: /%d\r\n", i)) {
			t.Errorf("the response for /%d is\n%s", i, x.Raw.Head)
		}
	}
}
