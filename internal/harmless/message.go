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
// scheme.
var userInfo = regexp.MustCompile(`(:/{0,2})[^\s/\\?#":][^\s/\\?#"]*@`)

// WithoutUser returns text with "…" in place of everything that may be the user and password of a
// URL.
func WithoutUser(text string) string { return userInfo.ReplaceAllString(text, "$1…@") }

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
