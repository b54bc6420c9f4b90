package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"skink/crawler"
)

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

// leave lets the crawl go on without the folders that are lost. What is pending of
// them is kept for when they are back.
func (c *crawlRun) leave(lost []lostFolder) {
	for _, l := range lost {
		if l.found != "" {
			c.say.line("The folder %s is gone: %s is now crawled as http://%s/.", l.Dir, l.found, l.Host)
			continue
		}
		c.say.line("The folder %s is missing (%v): http://%s/ is left out. Put it back, or give the folder by the same name where it is now.", l.Dir, reason(l.err), l.Host)
		c.lost = append(c.lost, l)
		c.options.Away = append(c.options.Away, l.Host)
		c.options.Folders = slices.DeleteFunc(c.options.Folders, func(f crawler.Folder) bool { return f == l.Folder })
	}
}

// pendingLost are the folders that are lost and of which URLs are pending.
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

// reason is an error of a file without its name.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
