package node

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

const space = " \t\n\f\r"

// Refresh reads a Refresh header or the content of <meta http-equiv=refresh>, such as "5; url='/new'",
// as browsers do (HTML Standard, shared declarative refresh steps). It returns the seconds to wait,
// and the address as written. The address is "" if the page is loaded again.
func Refresh(content string) (seconds int, href string, ok bool) {
	content = strings.TrimLeft(content, space)
	behind := strings.TrimLeft(content, "0123456789")
	digits := content[:len(content)-len(behind)]
	rest := strings.TrimLeft(behind, ".0123456789")
	if digits == "" && rest == behind || rest != "" && !strings.Contains(space+";,", rest[:1]) {
		return 0, "", false
	}
	if seconds, _ = strconv.Atoi(digits); seconds == 0 && strings.Trim(digits, "0") != "" {
		seconds = math.MaxInt
	}
	if rest = strings.TrimLeft(rest, space); rest != "" && (rest[0] == ';' || rest[0] == ',') {
		rest = strings.TrimLeft(rest[1:], space)
	}
	if len(rest) >= 3 && strings.EqualFold(rest[:3], "url") {
		if after, is := strings.CutPrefix(strings.TrimLeft(rest[3:], space), "="); is {
			rest = strings.TrimLeft(after, space)
		}
	}
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		rest, _, _ = strings.Cut(rest[1:], rest[:1])
	}
	return seconds, strings.Trim(rest, space), true
}

// MayRefresh is false for nearly all pages without <meta http-equiv=refresh>, and much faster than
// reading them. It looks for the rarest letter of http-equiv.
func MayRefresh(html []byte) bool {
	const name, before = "http-equiv", len("http-e")
	for _, q := range []byte("qQ") {
		for end := 0; ; {
			i := bytes.IndexByte(html[end:], q)
			if i < 0 {
				break
			}
			end += i + 1
			start := end - 1 - before
			if start < 0 || !strings.EqualFold(string(html[start:min(len(html), start+len(name))]), name) {
				continue
			}
			value := bytes.ToLower(html[end:min(len(html), end+100)])
			if bytes.Contains(value, []byte("refresh")) || bytes.IndexByte(value, '&') >= 0 { // a letter may be written as an entity
				return true
			}
		}
	}
	return false
}
