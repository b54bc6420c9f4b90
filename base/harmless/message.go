package harmless

import (
	"regexp"
	"strings"
)

// Error returns the text of an error for users and logs. The text contains no passwords. It is one
// line, although some libraries return paragraphs.
func Error(err error) string {
	return WithoutUser(strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "\uFFFD")), " "))
}

// userInfo matches the user and password in a URL, and the colon before them. The URL may lack a
// scheme. A password may contain characters that should be encoded, unless its beginning looks like
// a port.
var userInfo = regexp.MustCompile(`(://)[^\s/\\?#":]+:[^\s/\\?#"]*[^\s/\\?#"0-9][^\s"]*@|(:/{0,2})[^\s/\\?#":][^\s/\\?#"]*@`)

// password matches the name of a parameter of a URL that is a password, and its value.
var password = regexp.MustCompile(`(?i)([?&](?:ssl)?password=)[^\s&"]*`)

// WithoutUser returns text with "…" in place of everything that may be the user and password of a
// URL, or the value of its parameter "password".
func WithoutUser(text string) string {
	return password.ReplaceAllString(userInfo.ReplaceAllString(text, "$1$2…@"), "$1…")
}

// Quoted returns a word quoted for a shell.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
