package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/encoding"
	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"skink/crawler/wire"
	"skink/extract"
	"skink/frontier"
	"skink/internal/harmless"
	"skink/internal/session"
)

// readList reads a list with one URL on each line. A # at the beginning of a line or after a space
// begins a comment. A list is in UTF-8, or in UTF-16 with a byte order mark, as some editors write
// it.
func readList(all *session.Seeds, name string, r io.Reader) error {
	in := bufio.NewReaderSize(transform.NewReader(r, xunicode.BOMOverride(encoding.Nop.NewDecoder())), listHead)
	head, _ := in.Peek(listHead) // reading the lines returns the same error
	if err := checkList(name, head); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Text()
		if i := strings.IndexByte(line, '#'); i == 0 || i > 0 && strings.ContainsRune(" \t", rune(line[i-1])) {
			line = line[:i]
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !frontier.HasScheme(line) {
			return usagef("%s, line %d: %s is no URL: %s", name, n, brief(line), urlHint(line))
		}
		if err := addSeed(all, line); err != nil {
			return usagef("%s, line %d: %w", name, n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return usagef("%s, line %d: longer than 1 MB: a list of seeds has a URL a line", name, n)
	case err != nil:
		return usagef("%s, line %d: %w", name, n, err)
	}
	return nil
}

// listHead is how many bytes of a file are read to check that it is a list.
const listHead = 4096

// checkList refuses a file that is not a list of URLs. The error names the kind of file, because a
// quote of its first line would not help.
func checkList(name string, head []byte) error {
	kind := extract.MediaType(head, "")
	switch {
	case kind == "text/plain" && bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		return usagef("%s is JSON, no list of seeds: use skink dedup, or give a file with a URL a line", name)
	case kind == "text/plain":
		return nil
	case kind == "text/html":
		return usagef("%s is an HTML page, no list of seeds: give its folder, or use skink extract or skink dedup", name)
	case kind == "application/xml":
		return usagef("%s is a feed, no list of seeds: give its URL, or a file with a URL a line", name)
	}
	return usagef("%s is no text (%s): a list of seeds has a URL a line", name, kind)
}

// brief quotes a text, shortened to fit on a line.
func brief(s string) string {
	const most = 80
	s = harmless.WithoutUser(s) // before the text is shortened
	shown := []rune(s[:min(len(s), most*utf8.UTFMax)])
	more := len(shown) > most || len(s) > most*utf8.UTFMax
	shown = shown[:min(len(shown), most)]
	for i, r := range shown {
		if !unicode.IsPrint(r) { // it would be quoted as six characters
			shown[i] = utf8.RuneError
		}
	}
	if more {
		return strconv.Quote(string(shown)) + "…"
	}
	return strconv.Quote(string(shown))
}

// urlHint suggests a replacement for a word that is not a URL: the word with a scheme, if that is
// the URL of a host that may exist.
func urlHint(word string) string {
	if u := withScheme(word); u != "" {
		return "did you mean " + u + "?"
	}
	return "a URL begins with https:// or http://"
}

// withScheme returns the URL of a word such as www.example.com, or "" if it does not look like a
// host.
func withScheme(word string) string {
	if strings.ContainsAny(word, " \t@\\") || len(word) > 200 {
		return ""
	}
	u, err := url.Parse("//" + word)
	if err != nil {
		return ""
	}
	scheme, name := "https://", u.Hostname()
	switch _, ipErr := netip.ParseAddr(name); {
	case wire.IsSpecialHost(name): // such hosts seldom have a certificate
		scheme = "http://"
	case ipErr == nil:
	default:
		suffix, icann := publicsuffix.PublicSuffix(strings.ToLower(name))
		if suffix == name || !icann && !strings.Contains(suffix, ".") { // probably the name of a file, such as missing.txt
			return ""
		}
	}
	canonical, err := frontier.Canonical(scheme + word)
	if err != nil {
		return ""
	}
	return canonical
}
