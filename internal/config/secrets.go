package config

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"skink/crawler/access"
)

// absent stands for a secret in a copy of a file, and in settings for printing.
const absent = "***"

const relativeTo = "# Paths are relative to "

// Copy returns the text for a copy of a file in another folder. The copy contains the settings of
// the file, with *** in place of each literal secret, and no comments. It begins with a comment
// that contains the original folder, because paths in the file are relative to that folder.
func Copy(name string, text []byte) ([]byte, error) {
	settings, err := unmarshal(name, text)
	if err != nil {
		return nil, err
	}
	segments, isTable := settings[segmentsKey].(table)
	delete(settings, segmentsKey) // Marshal sorts keys by name, and segments have an order
	copied, err := toml.Marshal(withoutSecrets(nil, settings))
	if isTable && err == nil {
		copied, err = appendSegments(copied, segments, linesOf(text))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	dir, _ := origin(name, text)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return slices.Concat([]byte(relativeTo+strconv.Quote(dir)+"\n"), copied), nil
}

// origin returns the folder to which paths in a file are relative, and whether the file is a copy.
func origin(name string, text []byte) (dir string, copied bool) {
	if rest, ok := strings.CutPrefix(string(text), relativeTo); ok {
		quoted, _, _ := strings.Cut(rest, "\n")
		if dir, err := strconv.Unquote(quoted); err == nil {
			return dir, true
		}
	}
	return filepath.Dir(name), false
}

// withoutSecrets returns the value of a key, with *** in place of each literal secret.
func withoutSecrets(path []string, v any) any {
	switch v := v.(type) {
	case table:
		for key := range v {
			v[key] = withoutSecrets(append(slices.Clone(path), key), v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutSecrets(path, v[i])
		}
	case string:
		if secret := secretIn(path, v); secret != "" && !strings.Contains(strings.ReplaceAll(secret, "$${", ""), "${") { // nobody else knows the value of a name
			return absent
		}
	}
	return v
}

// secretIn returns the part of a text that is secret: the text itself, or the password of a URL. It
// returns "" if there is none.
func secretIn(path []string, text string) string {
	if len(path) >= 3 && path[0] == "host" {
		switch last := path[len(path)-1]; {
		case slices.Contains(selectorKeys, path[2]):
			return ""
		case path[2] == "password",
			path[2] == "headers" && !access.IsPublic(http.CanonicalHeaderKey(last)),
			path[2] == "login" && len(path) == 5 && !slices.Contains(userFields, strings.ToLower(last)):
			return text
		}
	}
	return access.Password(text)
}

// userFields are names of form fields that contain the name of a user.
var userFields = []string{"user", "username", "user_name", "login", "email", "mail", "name", "account"}
