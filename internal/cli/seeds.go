package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/encoding"
	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"skink/crawler"
	"skink/extract"
	"skink/frontier"
	"skink/store"
)

// seeds is where a crawl starts. The store keeps them, so that a crawl can be
// resumed without naming them again.
type seeds struct {
	URLs    []string `json:"urls,omitempty"`    // canonical
	Moved   []string `json:"moved,omitempty"`   // where sites of URLs moved to: they belong to the crawl, and nobody vouches for them
	Folders []string `json:"folders,omitempty"` // absolute paths, in the order they were given
}

const seedsName = "seeds"

func readSeeds(ctx context.Context, s store.Store) (all seeds, err error) {
	b, err := s.Meta(ctx, seedsName)
	if err != nil || b == nil {
		return all, err
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return all, fmt.Errorf("read seeds: %w: %v", store.ErrCorrupt, err)
	}
	return all, nil
}

func (all *seeds) write(ctx context.Context, s store.Store) error {
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return s.SetMeta(ctx, seedsName, b)
}

// parse adds what the arguments name: URLs, files of URLs, standard input, and
// folders of HTML files.
func (all *seeds) parse(args []string, in io.Reader) error {
	for _, arg := range args {
		if err := all.parseOne(arg, in); err != nil {
			return err
		}
	}
	return nil
}

func (all *seeds) parseOne(arg string, in io.Reader) error {
	if arg == "-" {
		return all.readList("standard input", in)
	}
	if hasScheme(arg) {
		if err := all.addURL(arg); err != nil {
			return usagef("seed: %w", err)
		}
		return nil
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return usagef("seed %s is no URL, and there is no such file or folder: %s", brief(arg), urlHint(arg))
	case err != nil:
		return usagef("seed %s: %w", brief(arg), reason(err))
	case info.IsDir() && crawler.IsStore(arg):
		return usagef("seed %q is a store, no site: its crawl is resumed by skink crawl --store %s", arg, quoted(arg))
	case info.IsDir():
		dir, err := filepath.Abs(arg)
		if err == nil && !slices.Contains(all.Folders, dir) {
			all.Folders = append(all.Folders, dir)
		}
		return err
	}
	f, err := os.Open(arg)
	if err != nil {
		return usagef("seed file: %w", err)
	}
	defer f.Close()
	return all.readList(arg, f)
}

func (all *seeds) addURL(raw string) error {
	u, err := frontier.Canonical(raw)
	if err != nil {
		return usageError{err}
	}
	if !slices.Contains(all.URLs, u) {
		all.URLs = append(all.URLs, u)
	}
	return nil
}

// readList reads a URL a line. What follows a # at the beginning of a line or
// after a space is a comment. A list is UTF-8, or UTF-16 that says so with its first
// bytes, as some editors write it.
func (all *seeds) readList(name string, r io.Reader) error {
	in := bufio.NewReaderSize(transform.NewReader(r, xunicode.BOMOverride(encoding.Nop.NewDecoder())), listHead)
	head, _ := in.Peek(listHead) // an error comes up again when the lines are read
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
		if !hasScheme(line) {
			return usagef("%s, line %d: %s is no URL: %s", name, n, brief(line), urlHint(line))
		}
		if err := all.addURL(line); err != nil {
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

// listHead is how many bytes of a file are looked at to see whether it is a list.
const listHead = 4096

// checkList refuses files that are no lists of URLs, whose lines would say nothing
// to a person.
func checkList(name string, head []byte) error {
	kind := extract.MediaType(head, "")
	switch kind {
	case "text/plain":
		return nil
	case "text/html":
		return usagef("%s is an HTML page, no list of seeds: give its folder, or use skink extract or skink dedup", name)
	case "application/xml":
		return usagef("%s is a feed, no list of seeds: give its URL, or a file with a URL a line", name)
	}
	return usagef("%s is no text (%s): a list of seeds has a URL a line", name, kind)
}

// hasScheme says whether a word begins as a URL does. Prose can have one further on.
func hasScheme(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && !strings.ContainsAny(scheme, " \t\"'<>()=/")
}

// brief quotes what was read, as much of it as a line has room for.
func brief(s string) string {
	const most = 80
	shown := []rune(s[:min(len(s), most*utf8.UTFMax)])
	more := len(shown) > most || len(s) > most*utf8.UTFMax
	shown = shown[:min(len(shown), most)]
	for i, r := range shown {
		if !unicode.IsPrint(r) { // would be six characters when quoted
			shown[i] = utf8.RuneError
		}
	}
	if more {
		return strconv.Quote(string(shown)) + "…"
	}
	return strconv.Quote(string(shown))
}

// urlHint says what to try in place of a word that is no URL: the same with a scheme,
// if it then is one of a host that may exist.
func urlHint(word string) string {
	if u := withScheme(word); u != "" {
		return "did you mean " + u + "?"
	}
	return "a URL begins with https:// or http://"
}

// withScheme is the URL that a word such as www.example.com stands for, "" if it looks
// like none.
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
	case isLocalhost(name), isSpecialAddress(name): // few of these have a certificate
		scheme = "http://"
	case ipErr == nil:
	default:
		suffix, icann := publicsuffix.PublicSuffix(strings.ToLower(name))
		if suffix == name || !icann && !strings.Contains(suffix, ".") { // missing.txt
			return ""
		}
	}
	canonical, err := frontier.Canonical(scheme + word)
	if err != nil {
		return ""
	}
	return canonical
}

// merge adds other seeds after those that are there.
func (all *seeds) merge(other seeds) {
	for _, u := range other.URLs {
		if !slices.Contains(all.URLs, u) {
			all.URLs = append(all.URLs, u)
		}
	}
	for _, u := range other.Moved {
		if !slices.Contains(all.Moved, u) {
			all.Moved = append(all.Moved, u)
		}
	}
	for _, dir := range other.Folders {
		if !slices.Contains(all.Folders, dir) {
			all.Folders = append(all.Folders, dir)
		}
	}
}

// A lostFolder is one of an earlier crawl that is no longer where it was.
type lostFolder struct {
	crawler.Folder
	err   error
	found string // what is now served under its name, "" if nothing is
}

// lost lists the folders that cannot be read.
func (all *seeds) lost() (lost []lostFolder) {
	for _, f := range crawler.FolderHosts(all.Folders) {
		root, err := os.OpenRoot(f.Dir)
		if err != nil {
			lost = append(lost, lostFolder{Folder: f, err: err})
			continue
		}
		root.Close() // it was not used
	}
	return lost
}

// relocate lets folders that are given take the places of earlier ones that are
// lost, if they would have the same name but for a number: then they are most
// likely these, moved. It returns the lost, and the others that are given.
func (all *seeds) relocate(given []string) (lost []lostFolder, others []string) {
	lost = all.lost()
	for _, dir := range given {
		name := crawler.FolderHosts([]string{dir})[0].Host
		i := slices.IndexFunc(lost, func(l lostFolder) bool {
			return l.found == "" && crawler.FolderHosts([]string{l.Dir})[0].Host == name
		})
		if i < 0 || slices.Contains(all.Folders, dir) {
			others = append(others, dir)
			continue
		}
		lost[i].found = dir
		all.Folders[slices.Index(all.Folders, lost[i].Dir)] = dir
	}
	return lost, others
}

// items are the URLs a crawl starts from, the folders' own included.
func (all *seeds) items() []frontier.Item {
	var items []frontier.Item
	for _, u := range slices.Concat(all.URLs, all.Moved) {
		items = append(items, frontier.Item{URL: u})
	}
	for _, f := range crawler.FolderHosts(all.Folders) {
		items = append(items, frontier.Item{URL: "http://" + f.Host + "/"})
	}
	return items
}

// special are the hosts, with ports, of seeds that say themselves that they are
// not on the public internet. An address to which a server sent us says nothing.
func (all *seeds) special() []string {
	var hosts []string
	for _, raw := range all.URLs {
		u, err := url.Parse(raw)
		if err != nil {
			continue // canonical URLs parse
		}
		if name := u.Hostname(); isLocalhost(name) || isSpecialAddress(name) {
			hosts = append(hosts, hostPort(u))
		}
	}
	return hosts
}

func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isSpecialAddress(name string) bool {
	a, err := netip.ParseAddr(name)
	return err == nil && crawler.IsSpecial(a)
}

// hostPort is the host of a URL with its port, also where it is the default.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if strings.Contains(u.Hostname(), ":") {
		return "[" + u.Hostname() + "]:" + port
	}
	return u.Hostname() + ":" + port
}
