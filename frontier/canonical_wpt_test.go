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

// Browsers are tested with the web-platform tests of the URL Standard. These tests come with the
// URL parser that this package uses, as files beside its source. If the files are missing, the
// tests here are skipped.

// wptRows returns the rows of one file of web-platform tests.
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

// halved reports whether a text of a row contains a lone surrogate of UTF-16, which a Go string
// cannot represent.
func halved(row json.RawMessage, text string) bool {
	return strings.ContainsRune(text, '\ufffd') && surrogate.Match(row)
}

var surrogate = regexp.MustCompile(`(?i)\\ud[89a-f]`)

// TestWebPlatform resolves the links of the web-platform tests. The expected result in these tests
// is a URL as a browser writes it. wptCanonical converts it to the canonical form independently of
// this package.
func TestWebPlatform(t *testing.T) {
	rows := wptRows(t, "urltestdata.json")
	compared, changed := 0, 0
	for _, row := range rows {
		var c struct {
			Input, Base, Href string
			Failure           bool
		}
		if json.Unmarshal(row, &c) != nil { // the row is a comment
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

// asciiToday returns the URL that the current URL Standard gives for an ASCII host that looks like
// Punycode and is not valid Punycode. The tests that come with the parser expect an error, because
// an older version of the standard did.
func asciiToday(input string) (href string, ok bool) {
	m := aceHost.FindStringSubmatch(input)
	if m == nil {
		return "", false
	}
	return m[1] + "://" + strings.ToLower(m[2]) + "/", true
}

var aceHost = regexp.MustCompile(`^(https?)://((?:[A-Za-z0-9_.-]*\.)?[Xx][Nn]--[A-Za-z0-9_.=-]*)/?$`)

// TestWebPlatformHosts compares the canonical form of hosts in all scripts with the web-platform
// tests, including the tests of UTS 46.
func TestWebPlatformHosts(t *testing.T) {
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
			if c.Output != "" {
				want = "http://" + c.Output + "/"
			}
			if got, err := Canonical("http://" + c.Input + "/"); got != want || (err == nil) != (want != "") {
				t.Errorf("%s: host %q becomes %q, %v, want %q", name, c.Input, got, err, want)
			}
		}
		t.Logf("%s: %d rows compared", name, compared)
	}
}

// resolveAny resolves a link of a row, whose page may have no http or https URL.
func resolveAny(t *testing.T, base, input string) (string, error) {
	if base == "" || base == "about:blank" {
		checkCanonical(t, input)
		return Canonical(input)
	}
	b, err := NewBase(base, "", "")
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

// wptCanonical returns the canonical form of a URL as a browser writes it: without fragment and
// user info, with escapes in capitals, and with unreserved characters as themselves.
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
