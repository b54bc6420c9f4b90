package session

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"skink/store"
)

// Cookies that a store keeps are sent by the next run. Without the option, each run begins without
// cookies.
func TestStoreCookies(t *testing.T) {
	for _, keep := range []bool{true, false} {
		var mu sync.Mutex
		given, known := 0, 0
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if c, err := r.Cookie("visitor"); err == nil && c.Value == "7" {
				known++
			} else {
				given++
				http.SetCookie(w, &http.Cookie{Name: "visitor", Value: "7", Path: "/", MaxAge: 3600})
			}
			fmt.Fprint(w, "<main><p>A page for every visitor, again and again.</p></main>")
		}))
		t.Cleanup(site.Close)
		s := &NamedStore{Store: store.NewMemory(), Name: "memory"}
		for run := range 2 {
			opt := quickly(site)
			opt.Crawl.Cookies, opt.StoreCookies = true, keep
			if run > 0 {
				opt.Again.Recrawl = "0s"
			}
			if _, err := Run(t.Context(), s, opt, Output{Out: io.Discard, Err: io.Discard}); err != nil {
				t.Fatal(err)
			}
		}
		if want := map[bool]int{true: 1, false: 2}[keep]; given != want {
			t.Errorf("stored %v: the site gave %d cookies, want %d; it knew %d requests", keep, given, want, known)
		}
	}
}
