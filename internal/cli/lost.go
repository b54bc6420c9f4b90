package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"skink/crawler"
)

// A lostFolder is a folder of an earlier crawl that is no longer where it was.
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

// relocate lets given folders take the places of lost ones, if their names differ by no more than a
// number: then a given folder is most likely the lost one, moved. It returns the folders that are
// still lost, and the given ones that took no place.
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

// leave lets the crawl go on without the folders that are lost. Their pending URLs are kept until
// the folders are back.
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

// pendingLost are the lost folders that have pending URLs.
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

// reason is the error of a file operation without the name of the file.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
