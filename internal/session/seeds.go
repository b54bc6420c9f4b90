package session

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"skink/crawler/folder"
	"skink/frontier"
	"skink/store"
	"skink/store/disk"
)

// Seeds are the URLs and folders where a crawl starts. The store keeps them, so users can resume
// the crawl without naming them again.
type Seeds struct {
	URLs    []string `json:"urls,omitempty"`    // canonical URLs named by the user
	Moved   []string `json:"moved,omitempty"`   // targets of redirects from seeds within their site; they count as seeds, but the user did not name them
	Folders []string `json:"folders,omitempty"` // absolute paths, in the order given by the user

	From map[string]string `json:"from,omitempty"` // the seeds that redirect to those in Moved
}

const seedsName = "seeds"

// ReadSeeds returns the seeds stored in s.
func ReadSeeds(ctx context.Context, s store.Reader) (all Seeds, err error) {
	return store.MetaValue[Seeds](ctx, s, seedsName, "seeds")
}

// write adds the seeds to those in the store, and sets *all to the result. Other workers may add
// seeds at the same time.
func (all *Seeds) write(ctx context.Context, s store.Store) error {
	return store.ChangeMeta(ctx, s, seedsName, "seeds", func(now *Seeds) (*Seeds, error) {
		if now != nil {
			all.Add(Seeds{URLs: now.URLs, Moved: now.Moved, From: now.From}) // do not add folders: the user may have moved some of them
		}
		return all, nil
	})
}

// Add appends the seeds in other that are not yet in all.
func (all *Seeds) Add(other Seeds) {
	all.URLs = withNew(all.URLs, other.URLs)
	all.Moved = withNew(all.Moved, other.Moved)
	all.Folders = withNew(all.Folders, other.Folders)
	if len(other.From) > 0 {
		from := maps.Clone(other.From)
		maps.Copy(from, all.From)
		all.From = from
	}
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// withNew appends the elements of other that are not yet in list.
func withNew(list, other []string) []string {
	has := setOf(list)
	for _, s := range other {
		if !has[s] {
			has[s] = true
			list = append(list, s)
		}
	}
	return list
}

func (all *Seeds) sharesWith(other Seeds) bool {
	urls, moved := setOf(all.URLs), setOf(all.Moved)
	return slices.ContainsFunc(other.URLs, func(u string) bool { return urls[u] || moved[u] }) ||
		slices.ContainsFunc(other.Folders, func(dir string) bool { return slices.Contains(all.Folders, dir) })
}

// Name returns a short name for the seeds: the first seed, and the number of others.
func (all *Seeds) Name() string {
	items := all.Items()
	switch len(items) {
	case 0:
		return "files"
	case 1:
		return items[0].URL
	}
	return fmt.Sprintf("%s and %d more", items[0].URL, len(items)-1)
}

// Items returns the start URLs of a crawl, including those of folders.
func (all *Seeds) Items() []frontier.Item {
	var items []frontier.Item
	for _, u := range slices.Concat(all.URLs, all.Moved) {
		items = append(items, frontier.Item{URL: u})
	}
	for _, f := range folder.Sites(all.Folders) {
		items = append(items, frontier.Item{URL: "http://" + f.Host + "/"})
	}
	return items
}

// find replaces each folder that is missing with a given folder of the same name, which is most
// likely the old one at a new location. Without one, it returns an error.
func (all *Seeds) find(given []string) error {
	for i, dir := range all.Folders {
		root, err := os.OpenRoot(dir)
		if err == nil {
			root.Close() // opened only as a check
			continue
		}
		same := func(other string) bool {
			return folder.NameOf(other) == folder.NameOf(dir) && !slices.Contains(all.Folders, other)
		}
		at := slices.IndexFunc(given, same)
		if at < 0 {
			return usagef("the folder %s, which is part of the crawl, is missing (%v): restore it, name its new location, or choose another --store", dir, disk.Reason(err))
		}
		all.Folders[i] = given[at]
	}
	return nil
}

// hosts returns the hosts of the seeds: first those of the URLs, then those of the folders.
func (all *Seeds) hosts() (hosts []string) {
	named := Seeds{URLs: all.URLs, Folders: all.Folders}
	for _, item := range named.Items() {
		hosts = append(hosts, frontier.HostOf(item.URL))
	}
	return hosts
}
