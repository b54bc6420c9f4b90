package view

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// # What a request may do
//
// A browser sends to this server also what pages of other sites ask it to send, with the cookies of
// this one. And this server shows what strangers wrote. So:
//
//   - It answers under its own names alone (package ownname). A page that lets its name resolve to
//     our address reads nothing.
//   - GET changes nothing. What is changed is changed by POST, with a token that stands in the forms
//     of our pages, which no other site can read.
//   - Where it can be reached from other machines, its address has a token, which becomes a cookie
//     that only our own pages send.
//   - The policy of its pages lets nothing load or run but its own style sheet and script. What was
//     crawled is escaped by html/template wherever it stands; the policy is for the day that this
//     fails.
//   - No page asks another server for anything. A link to a crawled site tells that site nothing of
//     where it was clicked.

// policy is the Content-Security-Policy of every answer.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// harden sets the headers that every answer has, and refuses what pages of other sites embed.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // without any a browser sends no Origin with our forms
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		from, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
		if (from == "cross-site" || from == "same-site") && (r.Method != http.MethodGet || mode != "navigate") {
			http.Error(w, "pages of other sites have no part in this one", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cookieName is that of the cookie that the token of an address becomes.
const cookieName = "skink-view"

// admit lets those in who know the token of the address, if there is one.
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
			http.Error(w, "open this with the whole address that skink printed, which ends in ?token= and the token", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authentic says whether a form is one of ours.
func (v *View) authentic(r *http.Request) bool {
	r.Body = http.MaxBytesReader(nil, r.Body, 1<<16)
	origin := r.Header.Get("Origin")
	return (origin == "" || strings.TrimPrefix(origin, "http://") == r.Host) && same(r.PostFormValue("token"), v.form)
}

func same(given, want string) bool {
	return given != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}
