package crawler

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"skink/frontier"
)

var walkHref = regexp.MustCompile(`href=(\S+?)>`)

// found returns the links of a page.
func found(p *Page) Links {
	var all []string
	for _, m := range walkHref.FindAllSubmatch(p.Body, -1) {
		all = append(all, string(m[1]))
	}
	return hrefs(all...)
}

// Walk calls visit once for each URL of a site, including errors and redirects, and for no URL of
// other sites.
func TestWalk(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<a href=/a><a href=/moved><a href=/none><a href=/secret><a href=http://elsewhere.test/>`)
		case "/moved":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/none":
			http.NotFound(w, r)
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
		default:
			fmt.Fprint(w, `<a href=/><a href=/b>`)
		}
	})
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var got []string
	err := Walk(t.Context(), []string{"HTTP://" + host}, Options{}, func(p *Page) (Links, error) {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", strings.TrimPrefix(p.Item.URL, "http://"+host), p.Status, p.Problem)))
		return found(p), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	same(t, "visited", strings.Join(got, ", "), "/ 200, /a 200, /b 200, /moved 302, /none 404 status, /secret 0 robots.txt")
}

func TestWalkEnds(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range 100 {
			fmt.Fprintf(w, "<a href=/%d>", i)
		}
	})
	enough := errors.New("seen enough")
	for _, c := range []struct {
		name, seed string
		opt        Options
		err        error
		want       int
	}{
		{"by a limit", "http://" + host, Options{MaxPages: 3}, nil, 3},
		{"by visit", "http://" + host, Options{}, enough, 5},
		{"with a seed that is none", "ftp://" + host, Options{}, frontier.ErrScheme, 0},
		{"within a scope", "http://" + host, Options{Scope: newScope(t, ScopeHost, []string{"/[12]$"}, nil)}, nil, 3},
	} {
		n := 0
		err := Walk(t.Context(), []string{c.seed}, c.opt, func(p *Page) (Links, error) {
			if n++; n == 5 {
				return Links{}, enough
			}
			return found(p), nil
		})
		if !errors.Is(err, c.err) || n != c.want {
			t.Errorf("%s: visited %d, want %d; %v", c.name, n, c.want, err)
		}
	}
}

func TestOptionsOrDefaults(t *testing.T) {
	got, want := Options{}.orDefaults(), Defaults()
	if got.Parallel != want.Parallel || got.PerHost != want.PerHost || got.Timeout != want.Timeout || got.MaxSize != want.MaxSize || got.Bodies != want.Bodies || got.UserAgent != want.UserAgent {
		t.Errorf("nothing given: %+v", got)
	}
	given := Options{Parallel: 3, PerHost: 2, Timeout: 5, MaxSize: 7, Bodies: 9, UserAgent: "me"}
	same(t, "what is given", given.orDefaults(), given)
}
