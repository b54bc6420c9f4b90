package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skink/crawler/folder"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/harmless"
	"skink/store"
	"skink/store/badger"
)

// seeds are the start of a crawl. The store keeps them, so that a crawl can be resumed without
// naming them again.
type seeds struct {
	URLs    []string `json:"urls,omitempty"`    // canonical
	Moved   []string `json:"moved,omitempty"`   // URLs to which the sites of seeds moved: they belong to the crawl, but the user did not name them
	Folders []string `json:"folders,omitempty"` // absolute paths, in the given order
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

// write adds seeds to those in the store. Other workers may add seeds at the same time.
func (all *seeds) write(ctx context.Context, s store.Store) error {
	for {
		old, err := s.Meta(ctx, seedsName)
		if err != nil {
			return err
		}
		var now seeds
		if old != nil {
			if err := json.Unmarshal(old, &now); err != nil {
				return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
			}
		}
		all.merge(seeds{URLs: now.URLs, Moved: now.Moved}) // not folders: they may have moved
		b, err := json.Marshal(all)
		if err != nil {
			return err
		}
		if err = s.SwapMeta(ctx, seedsName, old, b); !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}

// parse adds the seeds in the arguments: URLs, files of URLs, standard input, and folders of HTML
// files.
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
	if frontier.HasScheme(arg) {
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
	case info.IsDir() && badger.IsStore(arg):
		return usagef("seed %q is a store, no site: its crawl is resumed by skink crawl --store %s", arg, harmless.Quoted(arg))
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
	if namesUser(raw) {
		return usagef("a URL of %s names a user or a password: skink sends none; try %s", frontier.HostOf(u), u)
	}
	if !slices.Contains(all.URLs, u) {
		all.URLs = append(all.URLs, u)
	}
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

// merge appends other seeds.
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

// sharesWith reports whether any seed is in both.
func (all *seeds) sharesWith(other seeds) bool {
	return slices.ContainsFunc(other.URLs, func(u string) bool { return slices.Contains(all.URLs, u) || slices.Contains(all.Moved, u) }) ||
		slices.ContainsFunc(other.Folders, func(dir string) bool { return slices.Contains(all.Folders, dir) })
}

// name returns a short text for the seeds: the first, and how many more there are.
func (all *seeds) name() string {
	items := all.items()
	switch len(items) {
	case 0:
		return "files"
	case 1:
		return items[0].URL
	}
	return fmt.Sprintf("%s and %d more", items[0].URL, len(items)-1)
}

// items returns the start URLs of a crawl, including those of folders.
func (all *seeds) items() []frontier.Item {
	var items []frontier.Item
	for _, u := range slices.Concat(all.URLs, all.Moved) {
		items = append(items, frontier.Item{URL: u})
	}
	for _, f := range folder.Sites(all.Folders) {
		items = append(items, frontier.Item{URL: "http://" + f.Host + "/"})
	}
	return items
}

// special returns the hosts of seeds that may have private addresses because the user named them.
// URLs to which sites moved do not count.
func (all *seeds) special() []string { return wire.SpecialHosts(all.URLs...) }

// A lostFolder is a folder of an earlier crawl that no longer exists at its path.
type lostFolder struct {
	folder.Site
	err   error
	found string // folder that now has its host name; "": none
}

// lost returns the folders that cannot be read.
func (all *seeds) lost() (lost []lostFolder) {
	for _, f := range folder.Sites(all.Folders) {
		root, err := os.OpenRoot(f.Dir)
		if err != nil {
			lost = append(lost, lostFolder{Site: f, err: err})
			continue
		}
		root.Close() // it was only opened as a test
	}
	return lost
}

// relocate replaces lost folders by given ones whose names differ by no more than a number: such a
// folder is most likely the lost one, moved. It returns the folders that are still lost, and the
// given ones that replaced none.
func (all *seeds) relocate(given []string) (lost []lostFolder, others []string) {
	lost = all.lost()
	for _, dir := range given {
		name := folder.Sites([]string{dir})[0].Host
		i := slices.IndexFunc(lost, func(l lostFolder) bool {
			return l.found == "" && folder.Sites([]string{l.Dir})[0].Host == name
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

// leave continues the crawl without the lost folders. Their URLs stay pending until the folders are
// back.
func (c *crawlRun) leave(lost []lostFolder) {
	for _, l := range lost {
		if l.found != "" {
			c.say.line("The folder %s is gone: %s is now crawled as http://%s/.", l.Dir, l.found, l.Host)
			continue
		}
		c.say.line("The folder %s is missing (%v): http://%s/ is left out. Put it back, or give the folder by the same name where it is now.", l.Dir, reason(l.err), l.Host)
		c.lost = append(c.lost, l)
		c.options.Away = append(c.options.Away, l.Host)
		c.options.Folders = slices.DeleteFunc(c.options.Folders, func(f folder.Site) bool { return f == l.Site })
	}
}

// pendingLost returns the lost folders that have pending URLs.
func (c *crawlRun) pendingLost(ctx context.Context) (dirs []string, err error) {
	if len(c.lost) == 0 {
		return nil, nil
	}
	for h, err := range c.store.Hosts(ctx) {
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(c.lost, func(l lostFolder) bool { return l.Host == h.Name }); i >= 0 {
			dirs = append(dirs, c.lost[i].Dir)
		}
	}
	slices.Sort(dirs)
	return dirs, nil
}

// reason returns the error of a file operation without the name of the file.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
