package config

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// httpOnly begins the line of a cookie that scripts cannot read. Such a line is not a comment.
const httpOnly = "#HttpOnly_"

// parseCookies parses a cookies.txt file, the Netscape format in which browsers and curl export
// cookies. If the domain of a cookie begins with a dot, the cookie also applies to all subdomains.
// Errors begin with the line number, and do not quote the line.
func parseCookies(text string) ([]*http.Cookie, error) {
	var all []*http.Cookie
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		line, hidden := strings.CutPrefix(line, httpOnly)
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") && !hidden {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) == 6 {
			fields = append(fields, "") // an editor may have removed the tab before an empty value
		}
		c, ok := cookieOf(fields)
		if !ok {
			return nil, fmt.Errorf("line %d is no cookie: it needs 7 fields separated by tabs: domain, TRUE or FALSE, path, TRUE or FALSE, expiry time in seconds or 0, name, value", number)
		}
		c.HttpOnly = hidden
		all = append(all, c)
	}
	return all, nil
}

func cookieOf(fields []string) (c *http.Cookie, ok bool) {
	if len(fields) != 7 {
		return nil, false
	}
	below, err := strconv.ParseBool(fields[1])
	secure, secureErr := strconv.ParseBool(fields[3])
	expiry, expiryErr := strconv.ParseFloat(fields[4], 64) // some browsers write fractions
	c = &http.Cookie{Name: fields[5], Value: fields[6], Domain: strings.TrimPrefix(strings.ToLower(fields[0]), "."), Path: fields[2], Secure: secure}
	if errors.Join(err, secureErr, expiryErr) != nil || !(expiry >= 0 && expiry < 1<<40) || c.Domain == "" || c.Name == "" || !strings.HasPrefix(c.Path, "/") {
		return nil, false
	}
	if below {
		c.Domain = "." + c.Domain
	}
	if expiry > 0 {
		c.Expires = time.Unix(int64(expiry), 0)
	}
	return c, true
}
