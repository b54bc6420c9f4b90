package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skink/frontier"
	"skink/internal/disk"
	"skink/internal/harmless"
	"skink/internal/session"
	"skink/store/badger"
)

// parseSeeds returns the seeds in the arguments: URLs, files of URLs, standard input, and folders of HTML
// files.
func parseSeeds(args []string, in io.Reader) (all session.Seeds, err error) {
	for _, arg := range args {
		if err := parseSeed(&all, arg, in); err != nil {
			return all, err
		}
	}
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
		return usagef("seed %s is no URL, and there is no such file or folder: %s", brief(arg), urlHint(arg))
	case err != nil:
		return usagef("seed %s: %w", brief(arg), disk.Reason(err))
	case info.IsDir() && badger.IsStore(arg):
		return usagef("seed %q is a store, no site: its crawl is resumed by skink crawl --store %s", arg, harmless.Quoted(arg))
	case info.IsDir():
		dir, err := filepath.Abs(arg)
		if err == nil {
			all.Add(session.Seeds{Folders: []string{dir}})
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

// addSeed adds the canonical form of a URL to seeds.
func addSeed(all *session.Seeds, raw string) error {
	u, err := frontier.Canonical(raw)
	if err != nil {
		return usageError{Err: err}
	}
	if namesUser(raw) {
		return usagef("a URL of %s names a user or a password: skink sends none; try %s", frontier.HostOf(u), u)
	}
	all.Add(session.Seeds{URLs: []string{u}})
	return nil
}

// namesUser reports whether a URL has user info, which its canonical form drops.
func namesUser(raw string) bool {
	_, rest, _ := strings.Cut(raw, ":")
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, "@")
}
