package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"skink/store/disk"
)

// variable matches a variable: an escaped one ($${), one with a name, or one without an end.
var variable = regexp.MustCompile(`\$\$\{|\$\{([^}]*)(\}?)`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// fill replaces each ${NAME} in a text with the environment variable of that name, and each
// ${file:PATH} with the content of that file without its last line break. $${ becomes ${. In the
// user name and the password of a URL, the value is percent-encoded.
func (p *parser) fill(text string) (filled string, err error) {
	end := 0
	for _, at := range variable.FindAllStringSubmatchIndex(text, -1) {
		filled += text[end:at[0]]
		end = at[1]
		if at[2] < 0 {
			filled += "${"
			continue
		}
		if at[4] == at[5] {
			return "", errors.New("missing } after ${: for a literal ${, write $${")
		}
		value, err := p.value(text[at[2]:at[3]])
		if err != nil {
			return "", err
		}
		if _, address, ok := strings.Cut(filled, "://"); ok && !strings.Contains(address, "@") && strings.Contains(text[end:], "@") {
			value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20") // the user name or the password of a URL
		}
		filled += value
	}
	return filled + text[end:], nil
}

func (p *parser) value(name string) (string, error) {
	if file, ok := strings.CutPrefix(name, "file:"); ok {
		text, err := p.read(file)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", file, disk.Reason(err))
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
	}
	if !variableName.MatchString(name) {
		return "", errors.New("this is not the name of a variable: try ${NAME} or ${file:PATH}, or $${ for a literal ${")
	}
	value, ok := os.LookupEnv(name)
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return value, nil
}

// read reads a file that the configuration file names.
func (p *parser) read(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	p.file.Read = append(p.file.Read, path)
	return os.ReadFile(path)
}
