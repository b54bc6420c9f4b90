package node

import (
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
