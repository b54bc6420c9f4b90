package access

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const hidden = "***"

// A Secret is a string that is never printed. Packages fmt, encoding/json and log/slog print ***
// instead. To send a secret, convert it to type string.
type Secret string

// Format implements [fmt.Formatter].
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns ***.
func (s Secret) String() string { return hidden }

// MarshalText returns ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Basic holds the user name and password for HTTP Basic authentication.
type Basic struct{ User, Password Secret }

// Format implements [fmt.Formatter]. Without this method, a verb that is invalid for pointers, such
// as %s, would print the secrets.
func (b Basic) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// Format implements [fmt.Formatter], for the same reason as [Basic.Format].
func (l Login) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, l.Page+" "+hidden) }

// Cookies are cookies that are never printed.
type Cookies []*http.Cookie

// Format implements [fmt.Formatter].
func (c Cookies) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns ***.
func (c Cookies) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Password returns the part of a URL that is secret: the password, or a user name without a
// password, because it may be a token. It returns "" if there is none. The URL need not be valid.
func Password(text string) string {
	_, credentials, _ := userinfo(text)
	if _, password, ok := strings.Cut(credentials, ":"); ok || strings.Contains(credentials, "/") {
		return password
	}
	return credentials
}

// Redacted returns a text with *** in place of the user name and password if it is a URL with a
// secret. The URL need not be valid.
func Redacted(text string) string {
	if Password(text) == "" {
		return text
	}
	before, _, after := userinfo(text)
	return before + hidden + after
}

// userinfo splits a URL around the user name and password.
func userinfo(text string) (before, credentials, after string) {
	from := strings.Index(text, "://")
	to := strings.LastIndexByte(text, '@')
	if from < 0 || to < from {
		return text, "", ""
	}
	return text[:from+3], text[from+3 : to], text[to:]
}

// A Proxy is the URL of a proxy. Its user name and password are never printed.
type Proxy struct{ url url.URL }

// NewProxy returns the proxy at a URL.
func NewProxy(u *url.URL) Proxy { return Proxy{*u} }

// ParseProxy parses the URL of a proxy. The scheme must be http, https, socks5 or socks5h. The
// error does not contain the URL, which may contain a password.
func ParseProxy(text string) (Proxy, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.TrimSuffix(u.Path, "/")+u.RawQuery+u.Fragment != "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return Proxy{}, errors.New("must be a URL, such as socks5://127.0.0.1:1080 or http://proxy.example:3128; in a password, write / as %2F, ? as %3F and # as %23")
	}
	if u.User != nil && u.User.Username() == hidden {
		return Proxy{}, errors.New("contains ***: write the user name and password of the proxy instead")
	}
	return NewProxy(u), nil
}

// URL returns the URL, including the user name and password.
func (p Proxy) URL() *url.URL { return &p.url }

// Format implements [fmt.Formatter].
func (p Proxy) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }

// String returns the URL with *** in place of the user name and password.
func (p Proxy) String() string { return Redacted(p.url.String()) }

// MarshalText returns the same as String.
func (p Proxy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
