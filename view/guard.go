package view

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// # Security of requests
//
// Pages of other sites can make a browser send requests to this server, with this server's cookies.
// In addition, this server shows untrusted content. The view protects itself as follows:
//
//   - The server answers only requests for one of its own host names (package loopback). So a site
//     whose name resolves to the server's address (DNS rebinding) gets no content.
//   - A GET request changes nothing. A change requires a POST request with a token from the forms
//     of the view's pages, which no other site can read.
//   - If other machines can reach the server, its address contains a token, which the browser then
//     keeps in a cookie. The browser sends that cookie only with requests from the view's own
//     pages.
//   - The content security policy of the pages allows only the view's own style sheet and script.
//     html/template escapes all crawled content; the policy is an additional protection.
//   - No page makes the browser send a request to another server. A link to a crawled site does not
//     tell that site the address of the page with the link.

// policy is the Content-Security-Policy header of all responses, unless the handler sets another
// one.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// harden sets the security headers of every response. It also refuses requests caused by pages of
// other sites, unless the user followed a link.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with "no-referrer", a browser would send no Origin header with the view's forms
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		from, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
		if (from == "cross-site" || from == "same-site") && (r.Method != http.MethodGet || mode != "navigate") {
			http.Error(w, "requests from other sites are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cookieName is the name of the cookie that contains the token from the address.
const cookieName = "skink-view"

// admit refuses requests that have the token in neither their address nor their cookie. It accepts
// all requests if opt.Token is "".
func (v *View) admit(next http.Handler) http.Handler {
	if v.opt.Token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given := r.URL.Query().Get("token"); r.Method == http.MethodGet && same(given, v.opt.Token) {
			http.SetCookie(w, &http.Cookie{Name: cookieName, Value: given, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.EscapedPath(), "/\\"), http.StatusSeeOther)
			return
		}
		cookie, err := r.Cookie(cookieName)
		if err != nil || !same(cookie.Value, v.opt.Token) {
			http.Error(w, "open the complete address that skink printed, with its token", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authentic reports whether a form was sent from one of the view's own pages. Such a form contains
// the form token, and its request has a matching Origin header if the browser sends one.
func (v *View) authentic(r *http.Request) bool {
	r.Body = http.MaxBytesReader(nil, r.Body, 1<<16)
	origin := r.Header.Get("Origin")
	return (origin == "" || strings.TrimPrefix(origin, "http://") == r.Host) && same(r.PostFormValue("token"), v.form)
}

// posted returns the handler of a form. If the form was sent from one of the view's own pages, the
// handler calls do, and redirects to the address that do returns. If do returns "", there is no page
// with this form.
func (v *View) posted(do func(r *http.Request) (next string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !v.authentic(r) {
			http.Error(w, "this form has expired: reload the page, and press the button again", http.StatusForbidden)
			return
		}
		next := do(r)
		if next == "" {
			http.Error(w, "there is no such page", http.StatusNotFound)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

func same(given, want string) bool {
	return given != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}
