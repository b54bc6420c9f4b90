package config

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"skink/crawler/access"
)

// absent stands in a copy for a secret.
const absent = "***"

// withoutSecrets returns the text of a file with absent in place of each string that contains a
// literal secret. It keeps everything else, including comments.
func withoutSecrets(text []byte) []byte {
	var p unstable.Parser
	var kept bytes.Buffer
	done := 0
	scan(&p, text, func(path []string, value *unstable.Node) {
		if isSecret(path, string(value.Data)) {
			from, to := int(value.Raw.Offset), int(value.Raw.Offset+value.Raw.Length)
			kept.Write(text[done:from])
			kept.WriteString(`"` + absent + `"`)
			done = to
		}
	})
	kept.Write(text[done:])
	return kept.Bytes()
}

// isSecret reports whether the value of a key contains a literal secret. A text with a substitution
// does not, because nobody else knows its value.
func isSecret(path []string, text string) bool {
	if address, ok := strings.CutPrefix(text[strings.Index(text, "://")+1:], "//"); ok {
		if end := strings.LastIndexByte(address, '@'); end >= 0 {
			_, password, _ := strings.Cut(address[:end], ":")
			return password != "" && !substitutes(password)
		}
	}
	if len(path) < 3 || path[0] != "host" || substitutes(text) {
		return false
	}
	switch path[2] {
	case "password":
		return true
	case "headers":
		return len(path) == 4 && !access.IsPublic(http.CanonicalHeaderKey(path[3]))
	case "login":
		return len(path) == 5 && path[3] == "fields" && !slices.Contains(userFields, strings.ToLower(path[4]))
	}
	return false
}

// userFields are names of form fields that contain the name of a user.
var userFields = []string{"user", "username", "user_name", "login", "email", "mail", "name", "account"}

func substitutes(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, "$${", ""), "${")
}
