package crawler

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/crawler/access"
	"skink/crawler/wire"
)

// A memberSite is a site with a login form. Its sessions end after some pages.
type memberSite struct {
	lasts int // number of pages that a session shows before it ends; 0 means no limit

	mu      sync.Mutex
	session int // guarded by mu: number of the last login; 0 means none
	shown   int // guarded by mu: number of pages that this session has shown
	logins  int // guarded by mu: number of forms with the right password
	wrong   int // guarded by mu: number of forms with a wrong password
	logouts int // guarded by mu: number of logouts
}

const memberForm = `<title>Sign in</title>
<form action=/search><input name=q></form>
<form action="/session?new=1" method=POST>
<input type=hidden name=csrf value="token-5"><input name=user><input type=password name=password>
<input type=checkbox name=remember value=1 checked><input type=checkbox name=spam value=1>
<button name=how value=fast>Sign in</button><button name=how value=slow>Slowly</button></form>`

func (s *memberSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	valid := func() bool {
		return s.session > 0 && hasCookie(r, "sid", fmt.Sprintf("secret-%d", s.session)) && (s.lasts == 0 || s.shown < s.lasts)
	}
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /login")
	case "/login":
		http.SetCookie(w, &http.Cookie{Name: "pre", Value: "1", Path: "/"})
		fmt.Fprint(w, memberForm)
	case "/session":
		r.ParseForm()
		f := r.PostForm
		right := f.Get("user") == "me" && f.Get("password") == "secret-word" && f.Get("csrf") == "token-5" && f.Get("remember") == "1" &&
			f.Get("how") == "fast" && !f.Has("spam") && r.FormValue("new") == "1" && hasCookie(r, "pre", "1")
		if r.Method != http.MethodPost || !right {
			s.wrong++
			fmt.Fprint(w, memberForm)
			return
		}
		s.logins++
		s.session++
		s.shown = 0
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: fmt.Sprintf("secret-%d", s.session), Path: "/"})
		http.Redirect(w, r, "/welcome", http.StatusSeeOther)
	case "/welcome":
		fmt.Fprint(w, `<p>Welcome. <a href=/user/logout>Log out</a>`)
	case "/user/logout", "/index.php":
		s.logouts++
		s.session = 0
	case "/never":
		w.WriteHeader(http.StatusForbidden)
	default:
		if !valid() {
			http.Redirect(w, r, "/login?back="+r.URL.Path, http.StatusFound)
			return
		}
		s.shown++
		fmt.Fprint(w, `<title>member</title><a href=/user/logout><a href=/index.php?action=logout><a href=/1><a href=/2><a href=/3><a href=/4>`)
	}
}

// crawlMembers crawls a site with a login, and returns the number of pages with each status, and
// the details of all problems.
func crawlMembers(t *testing.T, s *memberSite, change func(*access.Host), more string) (statuses map[int]int, problems map[Problem]string) {
	t.Helper()
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if more != "" && r.URL.Path == "/" {
			fmt.Fprintf(w, "<a href=%s>", more)
		}
		s.ServeHTTP(w, r)
	})
	h := access.Host{Pattern: host, Login: &access.Login{
		Page: "http://" + host + "/login", Check: "Log out",
		Fields: map[string]access.Secret{"user": "me", "password": "secret-word"},
	}}
	if change != nil {
		change(&h)
	}
	statuses, problems = map[int]int{}, map[Problem]string{}
	opt := Options{
		AllowHosts: []string{host}, Hosts: access.Table{h}, Scope: newScope(t, ScopeHost, nil, nil, "http://"+host+"/"),
		OnAnswer: func(r *wire.Raw) {
			if bytes.Contains(r.Request, []byte("secret-")) {
				t.Errorf("a raw request holds a secret:\n%s", r.Request)
			}
		},
	}
	err := walk(t.Context(), []string{"http://" + host}, opt, func(p *Page) (Links, error) {
		if p.Location == "" {
			statuses[p.Status]++
		}
		if p.Problem != "" {
			problems[p.Problem] = p.Detail
		}
		if !p.Private {
			t.Errorf("%s is not private", p.Item.URL)
		}
		if p.Raw != nil && bytes.Contains(p.Raw.Request, []byte("secret-")) {
			t.Errorf("a raw request holds a secret:\n%s", p.Raw.Request)
		}
		return found(p), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return statuses, problems
}

// With a login, the crawl gets all pages, even if its sessions end again and again. It follows no
// logout link.
func TestLogin(t *testing.T) {
	for _, lasts := range []int{0, 1, 2} {
		s := &memberSite{lasts: lasts}
		statuses, problems := crawlMembers(t, s, nil, "")
		if statuses[http.StatusOK] != 5 || len(problems) > 0 {
			t.Errorf("sessions of %d pages: %v, %v", lasts, statuses, problems)
		}
		want := 1
		if lasts > 0 {
			want = (5 + lasts - 1) / lasts
		}
		if s.logins != want || s.wrong > 0 || s.logouts > 0 {
			t.Errorf("sessions of %d pages: %d logins, want %d; %d wrong, %d logouts", lasts, s.logins, want, s.wrong, s.logouts)
		}
	}
}

// A page that is always refused costs a limited number of logins.
func TestLoginRefused(t *testing.T) {
	s := &memberSite{}
	statuses, _ := crawlMembers(t, s, nil, "/never")
	if statuses[http.StatusForbidden] != 1 || statuses[http.StatusOK] != 5 || s.logins > 1+maxLosses {
		t.Errorf("%v, %d logins", statuses, s.logins)
	}
}

// The answer to the form is checked with a status, a URL or a text. If the login fails, the error
// has the reason, but not the password, and the login is not repeated for each page.
func TestLoginCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*access.Host)
		want   string // part of the problem's detail; "" if the login succeeds
	}{
		{"by text", nil, ""},
		{"by URL", func(h *access.Host) { h.Login.Check = "/welcome" }, ""},
		{"by status", func(h *access.Host) { h.Login.Check = "200" }, ""},
		{"by the form", func(h *access.Host) { h.Login.Check = "" }, ""},
		{"another text", func(h *access.Host) { h.Login.Check = "Good morning" }, `the check expects a page that contains "Good morning", but the server returned 200 OK at http://HOST/welcome`},
		{"another URL", func(h *access.Host) { h.Login.Check = "/members" }, "the check expects the URL /members"},
		{"another status", func(h *access.Host) { h.Login.Check = "204" }, "the check expects status 204, but the server returned 200 OK"},
		{"a wrong password", func(h *access.Host) { h.Login.Fields["password"] = "secret-wrong" }, "the check expects a page that contains"},
		{"a wrong password, by the form", func(h *access.Host) { h.Login.Fields["password"], h.Login.Check = "secret-wrong", "" }, "the check expects a page without the form"},
		{"a field that is missing", func(h *access.Host) { h.Login.Fields["email"] = "secret-mail" }, "the page has no form with the fields email, password, user; its forms have the fields csrf, how, password, q, remember, spam, user"},
		{"a page that is refused", func(h *access.Host) { h.Login.Page = strings.Replace(h.Login.Page, "/login", "/never", 1) }, "the login page returned 403 Forbidden: check its URL"},
	} {
		s := &memberSite{}
		statuses, problems := crawlMembers(t, s, test.change, "")
		detail := problems[ProblemLogin]
		if test.want == "" {
			if statuses[http.StatusOK] != 5 || len(problems) > 0 {
				t.Errorf("%s: %v, %v", test.name, statuses, problems)
			}
			continue
		}
		want, _, _ := strings.Cut(test.want, "HOST")
		if !strings.Contains(detail, want) || strings.Contains(detail, "secret") || s.logins+s.wrong > 1 {
			t.Errorf("%s: %v, want %s; the form was submitted %d times", test.name, problems, test.want, s.logins+s.wrong)
		}
	}
}

// A server that repeats the fields in an invalid redirect does not get them into the error.
func TestLoginRepeats(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Set("Location", "http://[?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprint(w, `<form><input name=password></form>`)
	})
	f := testFetcher(t, func(o *Options) {
		o.Hosts = access.Table{{Pattern: host, Login: &access.Login{Page: "http://" + host + "/", Fields: map[string]access.Secret{"password": "sesame"}}}}
	}, host)
	page := f.fetchAs(t.Context(), item("http://"+host+"/page"))
	if page.Problem != ProblemLogin || strings.Contains(page.Detail, "sesame") || !strings.Contains(page.Detail, "redirects to a URL that is missing or not valid") {
		t.Errorf("%q %s", page.Problem, page.Detail)
	}
}

// If a form would send its fields to another host or without encryption, it is not submitted.
func TestLoginElsewhere(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host is asked for %s", r.URL)
	})
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<form method=post action=http://%s/><input name=user></form>`, other)
	})
	f := testFetcher(t, func(o *Options) {
		o.Hosts = access.Table{{Pattern: host, Login: &access.Login{Page: "http://" + host + "/", Fields: map[string]access.Secret{"user": "secret-1"}}}}
	}, host, other)
	page := f.fetchAs(t.Context(), item("http://"+host+"/page"))
	if page.Problem != ProblemLogin || !strings.Contains(page.Detail, "does not match the host of this configuration section") {
		t.Errorf("%q %s", page.Problem, page.Detail)
	}
}

// A logout link is not requested in any other way either: as a checked file of a page, as a checked
// page of another host, or as the target of a redirect.
func TestLogoutUnasked(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	ask := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<a href=/moved>")
		case "/moved":
			http.Redirect(w, r, "/session/logout", http.StatusFound)
		case "/item.png":
			w.Header().Set("Content-Type", "image/png")
		}
	}
	site, other := serve(t, ask), serve(t, ask)
	basic := &access.Basic{User: "u", Password: "p"}
	opt := Options{
		CheckAssets: true, CheckOthers: true, AllowHosts: []string{site, other}, IgnoreRobots: true,
		Hosts: access.Table{{Pattern: site, Basic: basic}, {Pattern: other, Basic: basic}},
		Scope: newScope(t, ScopeHost, nil, nil, "http://"+site+"/"),
	}
	err := walk(t.Context(), []string{"http://" + site}, opt, func(p *Page) (Links, error) {
		links := found(p)
		links.Targets, links.Files = true, slices.Values([]string{"/logout.png", "/delete", "/item.png", "http://" + other + "/user/logout"})
		return links, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(asked)
	same(t, "asked", strings.Join(asked, " "), "/ /item.png /moved")
}

func TestLogsOut(t *testing.T) {
	yes := true
	table := access.Table{
		{Pattern: "in.example", Basic: &access.Basic{User: "u"}},
		{Pattern: "free.example", Basic: &access.Basic{User: "u"}, Logout: &yes},
		{Pattern: "slow.example", PerHost: 1},
	}
	o := &Options{Hosts: table}
	for url, want := range map[string]bool{
		"http://in.example/logout":                             true,
		"http://in.example/user/Sign-Out/":                     true,
		"http://in.example/logout.php?x":                       true,
		"http://in.example/wp-login.php?action=logout&n=1":     true,
		"http://in.example/index.php?title=Special:UserLogout": true,
		"http://in.example/item/5/delete":                      true,
		"http://in.example/list?unsubscribe=me":                true,
		"http://in.example/x?a=b;logout":                       true,
		"http://in.example/x;logout":                           true,
		"http://in.example/x;do=logout?a":                      true,
		"http://in.example/logout;jsessionid=5":                true,
		"http://in.example/logout%20":                          true,
		"http://in.example/logout%00.":                         true,
		"http://in.example/logout...":                          true,
		"http://in.example/a%2Flogout":                         true,
		"http://in.example/%6Cogout":                           true,
		"http://in.example/x?a=b%3blogout":                     true,
		"http://in.example/%25256Cogout":                       true,
		"http://in.example/LogOut/%zz":                         true,
		"http://in.example/x?task=user.logout":                 true,
		"http://in.example/x?+logout+":                         true,
		"http://in.example./logout":                            true,
		"http://in.example":                                    false,
		"http://delete.example/logout/":                        false,
		"http://in.example/how%20to%20delete%20it":             false,
		"http://in.example/how-to-delete-a-file":               false,
		"http://in.example/removed":                            false,
		"http://free.example/logout":                           false,
		"http://slow.example/logout":                           false,
		"http://other.example/logout":                          false,
	} {
		if got := o.logsOut(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}
