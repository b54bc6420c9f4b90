package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"skink/crawler/access"
	"skink/crawler/wire"
	"skink/frontier"
)

// # Logins
//
// Before the first page of a host whose settings have a login, its form is fetched, filled in and
// submitted. The cookies of the answers make the session. If a page answers 401 or 403, or redirects
// to the page of the form, the session is lost: the login is repeated, and the page fetched again.
//
// The user named the login page, so robots.txt is not asked for it. All requests of a login wait for
// the rest of their host. None of them is archived, because they contain the password.
//
// The fields are sent only to a host that the pattern of the settings names, or to the host of the
// login page; and if the page came by https, only by https.

const (
	loginHops  = 10      // redirects that are followed from the page of the form, and from its answer
	loginLimit = 1 << 20 // bytes of the page of the form
	mostLosses = 3       // further logins in a row that changed nothing, after which none is tried
)

// A LoginError is a login that failed. It contains no value of a field.
type LoginError struct {
	Page string // URL of the form
	Why  string
}

func (e *LoginError) Error() string { return fmt.Sprintf("log in at %s: %s", e.Page, e.Why) }

// logins are the sessions of a crawl.
type logins struct {
	mu  sync.Mutex
	all map[*access.Login]*session // guarded by mu
}

// A session is what a login began.
type session struct {
	mu     sync.Mutex // held during a login
	times  int        // guarded by mu: logins that worked
	losses int        // guarded by mu: logins in a row after which the same page was refused again
	err    error      // guarded by mu: of the first login; it is not tried again
}

func (l *logins) of(login *access.Login) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[login]
	if s == nil {
		s = &session{}
		l.all[login] = s
	}
	return s
}

// logIn begins the session of a login if there is none, and returns its number. after is the number of
// a session that was lost, or 0: if it is still the last one, another login begins a new one.
func (f *fetcher) logIn(ctx context.Context, h access.Host, after int) (number int, err error) {
	s := f.logins.of(h.Login)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.times > after {
		return s.times, s.err
	}
	err = f.submitLogin(ctx, h)
	switch {
	case ctx.Err() != nil:
		return s.times, ctx.Err()
	case err != nil && s.times == 0:
		s.err = err
	case err == nil:
		s.times++
	}
	return s.times, err
}

// fetchLoggedIn fetches a URL of a host with a login.
func (f *fetcher) fetchLoggedIn(ctx context.Context, item frontier.Item, h access.Host) *Page {
	number, err := f.logIn(ctx, h, 0)
	if err != nil {
		page := &Page{Item: item, FetchedAt: time.Now()}
		page.fail(err)
		return page
	}
	page := f.fetchPast(ctx, item)
	s := f.logins.of(h.Login)
	if !isLoggedOut(page, h.Login) || !s.worthAnother() {
		return page
	}
	if _, err := f.logIn(ctx, h, number); err != nil || f.waitFor(ctx, item.URL) != nil {
		return page
	}
	if page.Raw != nil {
		f.opt.OnAnswer(page.Raw)
	}
	page = f.fetchPast(ctx, item)
	s.count(isLoggedOut(page, h.Login))
	return page
}

// worthAnother reports whether another login may help against a lost session.
func (s *session) worthAnother() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.losses < mostLosses
}

// count counts a login after which a page was refused again, or was not.
func (s *session) count(refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused {
		s.losses++
	} else {
		s.losses = 0
	}
}

// isLoggedOut reports whether a page shows that its session is lost.
func isLoggedOut(p *Page, l *access.Login) bool {
	if p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
		return true
	}
	return p.Location != "" && withoutQuery(p.Location) == withoutQuery(l.Page) && withoutQuery(p.Item.URL) != withoutQuery(l.Page)
}

func withoutQuery(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url
}

// submitLogin fetches the form of a login, submits it, and checks the answer.
func (f *fetcher) submitLogin(ctx context.Context, h access.Host) error {
	l := h.Login
	fail := func(format string, args ...any) error { return &LoginError{l.Page, fmt.Sprintf(format, args...)} }
	x, at, err := f.loginExchange(ctx, http.MethodGet, l.Page, nil)
	switch {
	case err != nil:
		return fail("%v", err)
	case x.Status != http.StatusOK:
		return fail("the page answers with %s: correct its URL", statusText(x.Status))
	}
	form, err := findForm(x.Body, l.Fields)
	if err != nil {
		return fail("%v", err)
	}
	base, err := frontier.NewBase(at, "")
	if err != nil {
		return fail("%v", err)
	}
	action := at
	if form.action != "" {
		if action, err = base.Resolve(form.action); err != nil {
			return fail("the form leads to %q: %v", form.action, err)
		}
	}
	host := frontier.HostOf(action)
	switch {
	case !access.Matches(h.Pattern, host) && host != frontier.HostOf(l.Page):
		return fail("the form would send the fields to %s, which is not a host of this section", host)
	case strings.HasPrefix(l.Page, "https:") && !strings.HasPrefix(action, "https:"):
		return fail("the form would send the fields without encryption, to %s", action)
	}
	if form.post {
		x, at, err = f.loginExchange(ctx, http.MethodPost, action, form.values)
	} else {
		x, at, err = f.loginExchange(ctx, http.MethodGet, withoutQuery(action)+"?"+form.values.Encode(), nil)
	}
	if err != nil {
		return fail("%v", err)
	}
	return checkLogin(l, x, at)
}

// checkLogin checks the answer to a form, which came from a URL.
func checkLogin(l *access.Login, x *wire.Exchange, at string) error {
	ok, want := true, ""
	status, err := strconv.Atoi(l.Check)
	switch {
	case l.Check == "":
		_, again := findForm(x.Body, l.Fields)
		ok, want = x.Status < 400 && again != nil, "a page without the form"
	case err == nil:
		ok, want = x.Status == status, "status "+l.Check
	case strings.HasPrefix(l.Check, "/"), strings.HasPrefix(l.Check, "http://"), strings.HasPrefix(l.Check, "https://"):
		base, baseErr := frontier.NewBase(l.Page, "")
		if baseErr != nil {
			return &LoginError{l.Page, baseErr.Error()}
		}
		wanted, resolveErr := base.Resolve(l.Check)
		ok, want = resolveErr == nil && strings.HasPrefix(at, wanted), "the URL "+l.Check
	default:
		ok, want = bytes.Contains(x.Body, []byte(l.Check)), fmt.Sprintf("a page with %q", l.Check)
	}
	if ok {
		return nil
	}
	return &LoginError{l.Page, fmt.Sprintf("want %s, got %s at %s: correct the fields or the check", want, statusText(x.Status), withoutQuery(at))}
}

// loginExchange makes a request of a login, and follows redirects within the host by GET. It returns
// the last answer and its URL.
func (f *fetcher) loginExchange(ctx context.Context, method, to string, values url.Values) (*wire.Exchange, string, error) {
	for range loginHops {
		if err := f.waitFor(ctx, to); err != nil {
			return nil, to, err
		}
		x, err := f.loginRequest(ctx, method, to, values)
		if err != nil {
			return nil, to, err
		}
		if !isRedirect(x.Status) {
			return x, to, nil
		}
		next, err := location(to, x.Header)
		if err != nil || frontier.HostOf(next) != frontier.HostOf(to) {
			return x, to, err
		}
		method, to, values = http.MethodGet, next, nil
	}
	return nil, to, errors.New("too many redirects")
}

// loginRequest makes one request of a login.
func (f *fetcher) loginRequest(ctx context.Context, method, to string, values url.Values) (*wire.Exchange, error) {
	ctx, clock, cancel := wire.StartClock(ctx, f.opt.Timeout, f.opt.Timeout)
	defer cancel()
	r, err := f.request(ctx, method, to, f.pageHeader)
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		body := values.Encode()
		r.Header = r.Header.Clone()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	x := &wire.Exchange{Request: r, Limit: loginLimit, Clock: clock}
	return x, f.do(x)
}

// A form is a form of a page with its values filled in.
type form struct {
	action string // "": the URL of the page
	post   bool
	values url.Values
}

// findForm finds the first form of a page that has all fields, and fills them in. Hidden fields and
// others with values are kept, as a browser does.
func findForm(body []byte, fields map[string]access.Secret) (*form, error) {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var known []string // names of the fields of all forms
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" {
			continue
		}
		f := readForm(n)
		known = append(known, slices.Collect(maps.Keys(f.values))...)
		missing := func(name string) bool { _, ok := f.values[name]; return !ok }
		if slices.ContainsFunc(slices.Collect(maps.Keys(fields)), missing) {
			continue
		}
		for name, value := range fields {
			f.values.Set(name, string(value))
		}
		return f, nil
	}
	want := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
	if len(known) == 0 {
		return nil, fmt.Errorf("the page has no form with the fields %s", want)
	}
	slices.Sort(known)
	return nil, fmt.Errorf("the page has no form with the fields %s; it has %s", want, cut(strings.Join(slices.Compact(known), ", ")))
}

// readForm reads the controls of a form with their values. The first submit button counts as pressed.
func readForm(n *html.Node) *form {
	f := &form{action: attribute(n, "action"), post: strings.EqualFold(attribute(n, "method"), "post"), values: url.Values{}}
	pressed := false
	for c := range n.Descendants() {
		name := attribute(c, "name")
		if c.Type != html.ElementNode || name == "" || hasAttribute(c, "disabled") {
			continue
		}
		kind := strings.ToLower(attribute(c, "type"))
		switch {
		case c.Data == "textarea", c.Data == "select":
			f.values.Set(name, "")
		case c.Data == "button" && (kind == "" || kind == "submit"), c.Data == "input" && kind == "submit":
			if !pressed {
				f.values.Set(name, attribute(c, "value"))
			}
			pressed = true
		case c.Data != "input", kind == "button", kind == "reset", kind == "image", kind == "file":
		case (kind == "checkbox" || kind == "radio") && !hasAttribute(c, "checked"):
		default:
			f.values.Set(name, attribute(c, "value"))
		}
	}
	return f
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
