package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"skink/store"
)

// A page with highlighted text may contain its own style, but no scripts. A large page ends between
// two tags.
func TestMarked(t *testing.T) {
	s := small(t)
	write := func(_ context.Context, _ store.Reader, r *store.Record, w io.Writer) error {
		if r.Title == "Fog, copied" {
			return errors.New("it was <not> kept")
		}
		for i := range 200_000 {
			if _, err := fmt.Fprintf(w, "<p>%d</p>", i); err != nil {
				return err
			}
		}
		return nil
	}
	_, server := newView(t, s, func(o *Options) { o.Marked = write })
	body := get(t, server, "/page/"+idOf("https://a.example/fog").String()+"/marked")
	if !strings.HasPrefix(body, "<p>0</p>") || !strings.HasSuffix(body, "</p><p>The rest of the page is not shown.</p>") {
		t.Errorf("it begins with %q and ends in %q", body[:20], body[len(body)-80:])
	}
	resp := ask(t, server.Client(), "GET", server.URL+"/page/"+idOf("https://a.example/fog").String()+"/marked", nil)
	if got := resp.Header.Values("Content-Security-Policy"); len(got) != 1 || !strings.HasSuffix(got[0], "; sandbox") || strings.Contains(got[0], "script") {
		t.Errorf("its policy is %q", got)
	}
	resp = ask(t, server.Client(), "GET", server.URL+"/page/"+idOf("https://b.example/fog").String()+"/marked", nil)
	if resp.StatusCode != 404 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("where it cannot be shown: %s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
}
