package config

import (
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
		if len(fields) != 7 {
			return nil, fmt.Errorf("line %d: a cookie needs 7 fields separated by tabs, got %d", number, len(fields))
		}
		below, err := flagField(fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: the second field must be TRUE or FALSE", number)
		}
		secure, err := flagField(fields[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: the fourth field must be TRUE or FALSE", number)
		}
		expiry, err := strconv.ParseFloat(fields[4], 64) // some browsers write fractions
		if err != nil || !(expiry >= 0 && expiry < 1<<40) {
			return nil, fmt.Errorf("line %d: the fifth field must be the expiry time in seconds, or 0", number)
		}
		c := &http.Cookie{Name: fields[5], Value: fields[6], Domain: strings.TrimPrefix(strings.ToLower(fields[0]), "."), Path: fields[2], Secure: secure, HttpOnly: hidden}
		switch {
		case c.Domain == "":
			return nil, fmt.Errorf("line %d: the domain is empty", number)
		case c.Name == "":
			return nil, fmt.Errorf("line %d: the name is empty", number)
		case !strings.HasPrefix(c.Path, "/"):
			return nil, fmt.Errorf("line %d: the path does not begin with /", number)
		}
		if below {
			c.Domain = "." + c.Domain
		}
		if expiry > 0 {
			c.Expires = time.Unix(int64(expiry), 0)
		}
		all = append(all, c)
	}
	return all, nil
}

func flagField(text string) (bool, error) {
	switch strings.ToUpper(text) {
	case "TRUE":
		return true, nil
	case "FALSE":
		return false, nil
	}
	return false, strconv.ErrSyntax
}
