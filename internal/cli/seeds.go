package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/encoding"
	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"skink/base/harmless"
	"skink/crawler/wire"
	"skink/extract"
	"skink/frontier"
	"skink/internal/session"
	"skink/store/badger"
	"skink/store/disk"
)

// parseSeeds returns the seeds in args: URLs, files of URLs, standard input, and folders of HTML
// files.
func parseSeeds(args []string, in io.Reader) (all session.Seeds, err error) {
	var named session.Seeds // may contain the same seed several times
	for _, arg := range args {
		if err := parseSeed(&named, arg, in); err != nil {
			return all, err
		}
	}
	all.Add(named)
	return all, nil
}

func parseSeed(all *session.Seeds, arg string, in io.Reader) error {
	if arg == "-" {
		return readList(all, "standard input", in)
	}
	if frontier.HasScheme(arg) {
		if err := addSeed(all, arg); err != nil {
			return usagef("seed: %w", err)
		}
		return nil
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return usagef("seed %s is not a URL, a file or a folder: %s", brief(arg), urlHint(arg))
	case err != nil:
		return usagef("seed %s: %w", brief(arg), disk.Reason(err))
	case info.IsDir() && badger.IsStore(arg):
		return usagef("seed %q is a store, not a site: continue its crawl with skink crawl --store %s", arg, harmless.Quoted(arg))
	case info.IsDir():
		dir, err := filepath.Abs(arg)
		if err == nil {
			all.Folders = append(all.Folders, dir)
		}
		return err
	}
	f, err := os.Open(arg)
	if err != nil {
		return usagef("seed file: %w", err)
	}
	defer f.Close()
	return readList(all, arg, f)
}

// addSeed adds the canonical form of the URL raw to all. It returns an error if raw is not a URL
// that can be crawled.
func addSeed(all *session.Seeds, raw string) error {
	u, err := frontier.Canonical(raw)
	if err != nil {
		return usageError{Err: err}
	}
	if namesUser.MatchString(raw) {
		return usagef("a URL on %s contains a user name or password, which skink does not send: try %s", frontier.HostOf(u), u)
	}
	all.URLs = append(all.URLs, u)
	return nil
}

// namesUser matches a URL that contains a user name, as in https://user@example.org/. The canonical form
// lacks it.
var namesUser = regexp.MustCompile(`^[^:]*:[/\\]*[^/\\?#]*@`)

// readList adds the URLs in a list to all, one per line. A # at the beginning of a line or after a
// space begins a comment. The list is in UTF-8, or in UTF-16 with a byte order mark, which some
// editors write.
func readList(all *session.Seeds, name string, r io.Reader) error {
	in := bufio.NewReaderSize(transform.NewReader(r, xunicode.BOMOverride(encoding.Nop.NewDecoder())), listHead)
	head, _ := in.Peek(listHead) // any error is returned again when the lines are read
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
			return usagef("%s, line %d: %s is not a URL: %s", name, n, brief(line), urlHint(line))
		}
		if err := addSeed(all, line); err != nil {
			return usagef("%s, line %d: %w", name, n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return usagef("%s, line %d: the line is longer than 1 MB: a list of seeds has one URL per line", name, n)
	case err != nil:
		return usagef("%s, line %d: %w", name, n, err)
	}
	return nil
}

// listHead is the number of bytes at the beginning of a file that are examined to check that it is
// a list of URLs.
const listHead = 4096

// checkList returns an error if the named file is not a list of URLs; head is the beginning of the
// file. The error says which kind of file it is, such as JSON, instead of complaining about its
// first line.
func checkList(name string, head []byte) error {
	kind := extract.MediaType(head, "")
	switch {
	case kind == "text/plain" && bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		kind = "application/json"
	case kind == "text/plain":
		return nil
	}
	return usagef("%s is not a list of seeds but has the type %s: a list has one URL per line; to crawl pages on disk, give their folder; to compare files, use skink dedup", name, kind)
}

// brief quotes s, shortened to at most 80 characters and without the password of a URL.
func brief(s string) string {
	const most = 80
	s = harmless.WithoutUser(s) // must come first, because a shortened URL may no longer show where its password ends
	shown := []rune(unprintable.ReplaceAllString(s, "\ufffd"))
	if len(shown) > most {
		return strconv.Quote(string(shown[:most])) + "…"
	}
	return strconv.Quote(string(shown))
}

var unprintable = regexp.MustCompile(`[^\pL\pM\pN\pP\pS ]`) // strconv.Quote would write up to ten characters for one of them

// urlHint returns a hint for a word that should be a URL but has no scheme. If the word looks like
// a host, such as www.example.com, the hint suggests putting https:// before it.
func urlHint(word string) string {
	if u := withScheme(word); u != "" {
		return "did you mean " + u + "?"
	}
	return "a URL must begin with https:// or http://"
}

// withScheme returns the URL for a word such as www.example.com, or "" if it does not look like a
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
	if wire.IsSpecialHost(name) { // a host such as localhost rarely has a certificate
		scheme = "http://"
	} else if _, err := netip.ParseAddr(name); err != nil {
		suffix, icann := publicsuffix.PublicSuffix(strings.ToLower(name))
		if suffix == name || !icann && !strings.Contains(suffix, ".") { // no known top-level domain; probably a file name, such as missing.txt
			return ""
		}
	}
	canonical, err := frontier.Canonical(scheme + word)
	if err != nil {
		return ""
	}
	return canonical
}
