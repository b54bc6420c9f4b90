package frontier

import "strings"

// HasScheme reports whether a word begins with a scheme. In prose, a URL may be later in the word.
func HasScheme(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && !strings.ContainsAny(scheme, " \t\"'<>()=/")
}
