package crawler

import (
	"net/url"
	"slices"
	"strings"

	"skink/frontier"
)

// logoutWords are parts of URLs showing that a request ends a session or deletes something. They
// were chosen from the URLs of WordPress (action=logout), MediaWiki (Special:UserLogout), Django,
// phpBB (mode=logout), Drupal (user/logout), Confluence (logout.action) and mailing lists.
var logoutWords = []string{
	"logout", "log-out", "log_out", "logoff", "log-off", "signout", "sign-out", "sign_out", "signoff", "sign-off",
	"userlogout", "special:userlogout", "endsession", "delete", "remove", "destroy", "unsubscribe",
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
	u, err := url.Parse(to)
	if err != nil {
		return false
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if isLogoutWord(part) {
			return true
		}
	}
	for name, values := range u.Query() {
		if isLogoutWord(name) || slices.ContainsFunc(values, isLogoutWord) {
			return true
		}
	}
	return false
}

// isLogoutWord reports whether part is a logout word, ignoring a suffix such as .php.
func isLogoutWord(part string) bool {
	part = strings.ToLower(part)
	if stem, _, ok := strings.Cut(part, "."); ok {
		part = stem
	}
	return slices.Contains(logoutWords, part)
}
