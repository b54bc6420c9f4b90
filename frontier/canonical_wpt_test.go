package frontier

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The web-platform tests of the URL Standard are what browsers are held against. They come with the
// URL parser that we use, as files beside its source; where those are not to be had, the tables of
// this package have to do.

// wptRows returns the rows of one of the files.
func wptRows(t *testing.T, name string) (rows []json.RawMessage) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	file, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "testdata", name))
	if err != nil {
		t.Skip(err)
	}
	if err := json.Unmarshal(file, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// halved says whether a text of a row has half a character of UTF-16, which a string of Go cannot
// hold.
func halved(row json.RawMessage, text string) bool {
	return strings.ContainsRune(text, '\ufffd') && surrogate.Match(row)
}

var surrogate = regexp.MustCompile(`(?i)\\ud[89a-f]`)

// TestWebPlatform holds the resolving of links against them. What they expect is a URL as a browser
// writes it; from there it is four steps to the canonical form, which wptCanonical takes in its own
// way.
func TestWebPlatform(t *testing.T) {
	rows := wptRows(t, "urltestdata.json")
	compared, changed := 0, 0
	for _, row := range rows {
		var c struct {
			Input, Base, Href string
			Failure           bool
		}
		if json.Unmarshal(row, &c) != nil { // a comment
			continue
		}
		if halved(row, c.Input) {
			continue
		}
		got, err := resolveAny(t, c.Base, c.Input)
		if got == skipped {
			continue
		}
		compared++
		if href, ok := asciiToday(c.Input); ok && c.Failure {
			c.Failure, c.Href = false, href
			changed++
		}
		web := strings.HasPrefix(c.Href, "http://") || strings.HasPrefix(c.Href, "https://")
		switch {
		case c.Failure || !web:
			if err == nil {
				t.Errorf("%q on %q = %q, want an error (%s)", c.Input, c.Base, got, c.Href)
			}
		case err != nil && !errors.Is(err, ErrTooLong):
			t.Errorf("%q on %q: %v, want %s", c.Input, c.Base, err, c.Href)
		case err == nil && got != wptCanonical(c.Href):
			t.Errorf("%q on %q = %q, want %q", c.Input, c.Base, got, wptCanonical(c.Href))
		}
	}
	t.Logf("%d of %d rows compared, of which %d are out of date", compared, len(rows), changed)
	if compared < 300 {
		t.Errorf("only %d rows were compared", compared)
	}
}

const skipped = "skipped"

// asciiToday is what the URL Standard makes of the hosts in ASCII that claim to be Punycode and are
// none. The tests that come with the parser are older, and want them to fail; so did the standard.
func asciiToday(input string) (href string, ok bool) {
	m := aceHost.FindStringSubmatch(input)
	if m == nil {
		return "", false
	}
	return m[1] + "://" + strings.ToLower(m[2]) + "/", true
}

var aceHost = regexp.MustCompile(`^(https?)://((?:[A-Za-z0-9_.-]*\.)?[Xx][Nn]--[A-Za-z0-9_.=-]*)/?$`)

// TestWebPlatformHosts does the same for hosts in all scripts, with the tests of UTS 46 among them.
func TestWebPlatformHosts(t *testing.T) {
	// Mathematical signs that IDNA maps to a form which it then refuses: see serialize. Browsers
	// have come to accept that form.
	refused := map[string]bool{"≠": true, "≮": true, "≯": true}
	for _, name := range []string{"toascii.json", "IdnaTestV2.json"} {
		compared := 0
		for _, row := range wptRows(t, name) {
			var c struct{ Input, Output string }
			if json.Unmarshal(row, &c) != nil || halved(row, c.Input) || strings.ContainsAny(c.Input, `/?#\@:`) {
				continue
			}
			compared++
			if href, ok := asciiToday("http://" + c.Input + "/"); ok && c.Output == "" {
				c.Output = HostOf(href)
			}
			want := ""
			if c.Output != "" && !refused[c.Input] {
				want = "http://" + c.Output + "/"
			}
			if got, err := Canonical("http://" + c.Input + "/"); got != want || (err == nil) != (want != "") {
				t.Errorf("%s: host %q becomes %q, %v, want %q", name, c.Input, got, err, want)
			}
		}
		t.Logf("%s: %d rows compared", name, compared)
	}
}

// resolveAny resolves a link; the pages of some rows are not of the web.
func resolveAny(t *testing.T, base, input string) (string, error) {
	if base == "" || base == "about:blank" {
		checkCanonical(t, input)
		return Canonical(input)
	}
	b, err := NewBase(base, "")
	if err != nil {
		return skipped, nil
	}
	checkResolve(t, b, input)
	return b.Resolve(input)
}

var (
	userInfo = regexp.MustCompile(`^(https?://)[^/?#]*@`)
	escape   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// wptCanonical makes the canonical form of what a browser writes: without fragment and user info,
// escapes in capitals, unreserved characters as themselves.
func wptCanonical(href string) string {
	href, _, _ = strings.Cut(href, "#")
	href = userInfo.ReplaceAllString(href, "$1")
	return escape.ReplaceAllStringFunc(href, func(e string) string {
		e = strings.ToUpper(e)
		c, _ := unescape(e)
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0 {
			return string(rune(c))
		}
		return e
	})
}
