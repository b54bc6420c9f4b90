package view

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skink/report"
	"skink/store"
)

// # Folders and their links
//
// The page "Map" draws the folders of a site as a tree, and the links between them as arcs. A folder is a host with up to
// folderNames names of the path. Only the maxFolders folders with the most pages are drawn, counting the pages of the
// folders below them. All others become part of the folder above them. So each page counts in one drawn folder, and
// the drawing is readable for any number of pages. It is made when the incoming links are read.

const (
	maxFolders  = 40 // also limits the table of the folders
	maxArcs     = 40
	folderNames = 6
)

// A folder is one line of the tree. Its counts are without those of other drawn folders.
type folder struct {
	Key               string // host and path in lower case, such as "a.example/docs/"; "" has all hosts
	Name              string // rest of Key below the drawn folder above it
	Level             int    // number of drawn folders above it
	Merged            int    // number of folders that became part of it
	Pages, Duplicates int64
	Within, Out, In   int64 // links between its pages, and to and from other folders
	X, Y, Bar         int   // positions in the drawing: name, line, and end of the bar of duplicates
	Branch            string
	depths            int64
}

// Depth returns the mean depth of the pages.
func (f *folder) Depth() float64 { return float64(f.depths) / float64(max(f.Pages, 1)) }

// Shown returns the name as far as the drawing has room for it.
func (f *folder) Shown() string {
	name := report.Clip(f.Name, 38-2*f.Level)
	if f.Merged > 0 {
		name += fmt.Sprintf(" +%d", f.Merged)
	}
	return name
}

// An arc is the links from the pages of one folder to those of another. A page counts once for each page that links to it.
type arc struct {
	From, To    *folder
	Links       int64
	Path, Width string // of an SVG path
}

// A tree is the drawn folders, in the order of their names, and the links between them.
type tree struct {
	Folders []*folder
	Arcs    []arc // largest first
	Pairs   int   // number of pairs of folders with links
	Height  int   // of the drawing
	of      []uint8
	links   [maxFolders][maxFolders]int64
}

// folderOf returns the folder of a row as the key of a [folder].
func (t *rows) folderOf(i int) []byte {
	url, _ := t.strings(i)
	_, key, _ := bytes.Cut(url, []byte("://"))
	if end := bytes.IndexAny(key, "?#"); end >= 0 {
		key = key[:end]
	}
	end := 0
	for range 1 + folderNames {
		end += bytes.IndexByte(key[end:], '/') + 1
	}
	return key[:end]
}

// above returns the folder above a folder.
func above(key string) string {
	return key[:strings.LastIndexByte(strings.TrimSuffix(key, "/"), '/')+1]
}

// eachPage calls do for the row of each page. It holds the lock of the rows for one chunk at a time.
func (x *index) eachPage(do func(t *rows, i int)) {
	for from, n := 0, 1; from < n; from += chunkRows {
		x.look(func(t *rows) {
			n = t.n
			for i := from; i < min(from+chunkRows, n); i++ {
				if r := t.at(i); r.flags&dead == 0 && kinds[r.kind] == string(store.Page) {
					do(t, i)
				}
			}
		})
	}
}

// newTree returns the folders of all pages that have a row, without links.
func (x *index) newTree() *tree {
	below := map[string]int64{}
	x.eachPage(func(t *rows, i int) { below[string(t.folderOf(i))]++ })
	s := &tree{}
	at := s.choose(below)
	x.eachPage(func(t *rows, i int) {
		key := string(t.folderOf(i))
		place, drawn := at[key]
		for up := key; !drawn && up != ""; {
			up = above(up)
			place, drawn = at[up]
		}
		if !drawn { // the first page of its host came after the first count
			return
		}
		at[key] = place
		r := t.at(i)
		s.of = append(s.of, make([]uint8, max(0, int(r.first)+1-len(s.of)))...)
		s.of[r.first] = place + 1
		f := s.Folders[place]
		f.Pages++
		f.depths += int64(r.depth)
		if r.cluster != 0 {
			f.Duplicates++
		}
	})
	return s
}

// choose sets the folders that are drawn, given the number of pages of each folder, and returns the place of each.
func (s *tree) choose(pages map[string]int64) map[string]uint8 {
	all, children := map[string]int64{}, map[string]int{}
	for key, n := range pages {
		for up := key; ; up = above(up) {
			if _, known := all[up]; !known && up != "" {
				children[above(up)]++
			}
			if all[up] += n; up == "" {
				break
			}
		}
	}
	maps.DeleteFunc(all, func(key string, _ int64) bool { return pages[key] == 0 && children[key] == 1 })
	largest := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	drawn := largest[:min(len(largest), maxFolders)]
	slices.Sort(drawn)
	at := map[string]uint8{}
	var path []*folder // the folders above the next one
	for i, key := range drawn {
		for len(path) > 0 && !strings.HasPrefix(key, path[len(path)-1].Key) {
			path = path[:len(path)-1]
		}
		f := &folder{Key: key, Name: cmp.Or(key, "all hosts"), Level: len(path), X: 12 + 18*len(path), Y: 26*i + 44}
		if f.Level > 0 {
			up := path[f.Level-1]
			f.Name = strings.TrimPrefix(key, up.Key)
			f.Branch = fmt.Sprintf("M%d %dV%dH%d", up.X+4, up.Y+8, f.Y-4, f.X-3)
		}
		path, s.Folders, at[key] = append(path, f), append(s.Folders, f), uint8(i)
	}
	for _, key := range largest[len(drawn):] {
		for up := key; ; {
			up = above(up)
			if place, is := at[up]; is {
				s.Folders[place].Merged++
				break
			}
		}
	}
	return at
}

// add counts a link between two pages, which are identified by their first rows.
func (s *tree) add(from, to uint32) {
	if int(max(from, to)) < len(s.of) && s.of[from] > 0 && s.of[to] > 0 {
		s.links[s.of[from]-1][s.of[to]-1]++
	}
}

// draw sets what depends on the links.
func (s *tree) draw() {
	s.Height = 26*len(s.Folders) + 34
	for i, from := range s.Folders {
		from.Within = s.links[i][i]
		from.Bar = int(40 * from.Duplicates / max(from.Pages, 1))
		for k, to := range s.Folders {
			if n := s.links[i][k]; n > 0 && i != k {
				from.Out, to.In = from.Out+n, to.In+n
				s.Arcs = append(s.Arcs, arc{From: from, To: to, Links: n})
			}
		}
	}
	slices.SortStableFunc(s.Arcs, func(a, b arc) int { return cmp.Compare(b.Links, a.Links) })
	s.Pairs = len(s.Arcs)
	s.Arcs = s.Arcs[:min(len(s.Arcs), maxArcs)]
	for i := range s.Arcs {
		a := &s.Arcs[i]
		y, end := a.From.Y-1, a.To.Y-8
		bulge := min(30+max(y-end, end-y)*3/4, 420)
		a.Path = fmt.Sprintf("M534 %dC%d %d %d %d 540 %d", y, 534+bulge, y, 540+bulge, end, end)
		a.Width = fmt.Sprintf("%.2f", max(0.75, 6*float64(a.Links)/float64(s.Arcs[0].Links)))
	}
}
