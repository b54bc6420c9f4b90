package frontier

import "strings"

// HasScheme reports whether word begins with a scheme and "://", as a URL does. It returns false if
// white space, a quote or a bracket comes before "://", as in "see=http://example.com".
func HasScheme(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && !strings.ContainsAny(scheme, " \t\"'<>()=/")
}
