package crawler

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"skink/frontier"
)

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
