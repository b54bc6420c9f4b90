package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"skink/crawler/access"
	"skink/crawler/wire"
	"skink/frontier"
)

// # Logins
//
// If a host's settings contain a login, its form is fetched, filled in and submitted before the
// first page of the host is fetched. The cookies of the responses identify the session. If a page
// returns 401 or 403, or redirects to the login page, the session is lost. The login is then
// repeated, and the page is fetched again.
//
// The user has chosen the login page, so robots.txt is not applied to it. The host's delay applies
// to all requests of a login. None of them is archived, because they contain the password.
//
// The fields are sent only to hosts that match the settings' pattern, or to the host of the login
// page. If the login page has an https URL, they are sent only over https.

const (
	loginHops  = 10      // maximum number of requests to fetch the login page, including redirects; the same limit applies to submitting the form
	loginLimit = 1 << 20 // maximum number of bytes read from a response
	maxLosses  = 3       // number of consecutive unsuccessful logins after which the crawl does not log in again
)

// A LoginError means that a login failed. It does not contain the values of form fields.
type LoginError struct {
	Page string // URL of the form
	Why  string
}

func (e *LoginError) Error() string { return fmt.Sprintf("log in at %s: %s", e.Page, e.Why) }

type session struct {
	losses atomic.Int32 // number of consecutive logins after which the same page was refused again

	mu    sync.Mutex // locked during a login
	times int        // guarded by mu: number of successful logins
	err   error      // guarded by mu: error from the first login; if set, the crawl does not log in again
}

func (f *fetcher) sessionOf(login *access.Login) *session {
	s, _ := f.logins.LoadOrStore(login, new(session))
	return s.(*session)
}

// logIn logs in if there is no session, and returns the number of the session. A caller that lost a
// session passes its number; other callers pass 0. If the lost session is still the latest one,
// logIn logs in again.
func (f *fetcher) logIn(ctx context.Context, h access.Host, after int) (number int, err error) {
	s := f.sessionOf(h.Login)
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

func (f *fetcher) fetchLoggedIn(ctx context.Context, item frontier.Item, h access.Host) *Page {
	number, err := f.logIn(ctx, h, 0)
	if err != nil {
		page := &Page{Item: item, FetchedAt: time.Now()}
		page.fail(err)
		return page
	}
	page := f.fetchPast(ctx, item)
	s := f.sessionOf(h.Login)
	if !isLoggedOut(page, h.Login) || s.losses.Load() >= maxLosses {
		return page
	}
	if _, err := f.logIn(ctx, h, number); err != nil {
		return page
	}
	page = f.again(page, f.fetchPast(ctx, item))
	if isLoggedOut(page, h.Login) {
		s.losses.Add(1)
	} else {
		s.losses.Store(0)
	}
	return page
}

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

func (f *fetcher) submitLogin(ctx context.Context, h access.Host) error {
	l := h.Login
	fail := func(format string, args ...any) error { return &LoginError{l.Page, fmt.Sprintf(format, args...)} }
	x, at, err := f.loginExchange(ctx, &h, http.MethodGet, l.Page, nil)
	switch {
	case err != nil:
		return fail("%v", err)
	case x.Status != http.StatusOK:
		return fail("the login page returned %s: check its URL", statusText(x.Status))
	}
	form, err := findForm(x.Body, l.Fields)
	if err != nil {
		return fail("%v", err)
	}
	base, err := frontier.NewBase(at, form.base, "")
	if err != nil {
		return fail("%v", err)
	}
	action := at
	if form.action != "" {
		if action, err = base.Resolve(form.action); err != nil {
			return fail("the form has the invalid target %q: %v", form.action, err)
		}
	}
	host := frontier.HostOf(action)
	switch {
	case !access.Matches(h.Pattern, host) && host != frontier.HostOf(l.Page):
		return fail("the form would send the fields to %s, which does not match the host of this configuration section", host)
	case strings.HasPrefix(l.Page, "https:") && !strings.HasPrefix(action, "https:"):
		return fail("the form would send the fields unencrypted to %s", action)
	}
	if form.post {
		x, at, err = f.loginExchange(ctx, &h, http.MethodPost, action, form)
	} else {
		x, at, err = f.loginExchange(ctx, &h, http.MethodGet, withoutQuery(action)+"?"+form.values.Encode(), nil)
	}
	if err != nil {
		return fail("%v", err)
	}
	return checkLogin(l, x, at)
}

func checkLogin(l *access.Login, x *wire.Exchange, responseURL string) error {
	ok, want := true, ""
	status, err := strconv.Atoi(l.Check)
	switch {
	case l.Check == "":
		_, again := findForm(x.Body, l.Fields)
		ok, want = x.Status < 400 && again != nil, "a page without the form"
	case err == nil:
		ok, want = x.Status == status, "status "+l.Check
	case strings.HasPrefix(l.Check, "/"), strings.HasPrefix(l.Check, "http://"), strings.HasPrefix(l.Check, "https://"):
		wanted, err := frontier.Resolve(l.Page, l.Check)
		ok, want = err == nil && strings.HasPrefix(responseURL, wanted), "the URL "+l.Check
	default:
		ok, want = bytes.Contains(x.Body, []byte(l.Check)), fmt.Sprintf("a page that contains %q", l.Check)
	}
	if ok {
		return nil
	}
	return &LoginError{l.Page, fmt.Sprintf("the check expects %s, but the server returned %s at %s: correct the fields or the check", want, statusText(x.Status), withoutQuery(responseURL))}
}

// loginExchange makes a request for a login, and follows redirects with GET requests. A redirect to
// another host is followed only if that host matches the settings too, as in single sign-on, and if
// it does not lead from https to http. loginExchange returns the last response and its URL.
func (f *fetcher) loginExchange(ctx context.Context, h *access.Host, method, to string, sent *form) (*wire.Exchange, string, error) {
	for range loginHops {
		a := ask{url: to, purpose: forLogin, login: h, method: method, limit: loginLimit}
		if sent != nil {
			a.body, a.more = sent.encoded()
		}
		x, err := f.send(ctx, a)
		if err != nil {
			return nil, to, err
		}
		if !isRedirect(x.Status) {
			return x, to, nil
		}
		next, err := location(to, x.Header)
		if err != nil { // the error contains the URL, in which the server may repeat the fields
			return nil, to, errors.New("the server redirects to a URL that is missing or not valid")
		}
		host, unsafe := frontier.HostOf(next), strings.HasPrefix(to, "https:") && !strings.HasPrefix(next, "https:")
		if host != frontier.HostOf(to) && (unsafe || !access.Matches(h.Pattern, host) && host != frontier.HostOf(h.Login.Page)) {
			return x, to, nil
		}
		method, to, sent = http.MethodGet, next, nil
	}
	return nil, to, errors.New("too many redirects")
}

// logoutWords are parts of URLs showing that a request ends a session or deletes something. They
// were chosen from the URLs of WordPress (action=logout), MediaWiki (Special:UserLogout), Django,
// phpBB (mode=logout), Drupal (user/logout), Confluence (logout.action) and mailing lists.
var logoutWords = []string{
	"logout", "log-out", "log_out", "logoff", "log-off", "signout", "sign-out", "sign_out", "signoff", "sign-off",
	"userlogout", "endsession", "delete", "remove", "destroy", "unsubscribe",
}

// logsOut reports whether the crawl is logged in to the host of a canonical URL, and a request for
// the URL may end the session or delete something. It returns false if the user allows such
// requests.
func (o *Options) logsOut(to string) bool {
	if len(o.Hosts) == 0 {
		return false
	}
	h := o.Hosts.For(frontier.HostOf(to))
	if !h.LoggedIn() || h.Logout != nil && *h.Logout {
		return false
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(decoded(to[len(frontier.Origin(to)):])), separatesWords) {
		if slices.Contains(logoutWords, strings.TrimFunc(word, isMark)) {
			return true
		}
	}
	return false
}

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// decoded undoes escapes until none is left, because some servers decode a URL twice. It keeps an
// incomplete escape as it is.
func decoded(s string) string {
	for escape.MatchString(s) {
		s = escape.ReplaceAllStringFunc(s, func(e string) string { b, _ := strconv.ParseUint(e[1:], 16, 8); return string([]byte{byte(b)}) })
	}
	return s
}

// separatesWords reports whether r separates the segments of a path, their parameters and
// extensions, or the names and values of a query.
func separatesWords(r rune) bool { return strings.ContainsRune(`/\.;:,&=?+`, r) }

// isMark reports whether r does not change which program answers, such as a space or a bracket at
// the end of a segment.
func isMark(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
