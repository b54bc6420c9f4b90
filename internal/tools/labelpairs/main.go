// Labelpairs makes labeled pairs of texts for skink tune from a folder of articles.
//
//	go run ./internal/tools/labelpairs testdata/site | skink tune -
//
// From each article of at least 150 words the tool makes eight pairs: the article and a changed
// form of it. The changes are random, with a fixed seed. Five forms are labeled as duplicates,
// because a reader would consider both texts the same article: with the menu and the footer of a
// site, with eight words replaced, with a paragraph added, with the paragraphs reordered, and with
// one word in forty spelled differently. Three forms are labeled as different: an excerpt of a
// quarter of the article, another article that quotes a third of it, and a rewrite in which every
// third word is replaced.
//
// With -debian, the tool makes the pairs of testdata/judged.jsonl.zst instead, from a folder of
// unpacked Debian packages; testdata/README.md names them:
//
//	go run ./internal/tools/labelpairs -debian FOLDER | zstd -19 > testdata/judged.jsonl.zst
//
// Known weakness: the pairs do not show how often each kind occurs in a crawl, or which kinds the
// user of the crawl considers duplicates. Real labels are better.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"skink/extract"
)

type pair struct {
	A         string `json:"a_text"`
	B         string `json:"b_text"`
	Duplicate bool   `json:"duplicate"`
	Kind      string `json:"kind"`
	Source    string `json:"source,omitempty"`
}

func main() {
	make, args := run, os.Args[1:]
	if len(args) == 2 && args[0] == "-debian" {
		make, args = runDebian, args[1:]
	}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: labelpairs [-debian] FOLDER")
		os.Exit(2)
	}
	if err := make(args[0], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "labelpairs:", err)
		os.Exit(1)
	}
}

func run(dir string, w io.Writer) error {
	articles, err := read(dir)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	rng := rand.New(rand.NewPCG(84, 10))
	for i, a := range articles {
		other := articles[(i+1)%len(articles)]
		for _, k := range kinds {
			if err := enc.Encode(pair{join(a), join(k.change(rng, a, other)), k.duplicate, k.name, ""}); err != nil {
				return err
			}
		}
	}
	return nil
}

type article [][]string

func join(a article) string {
	lines := make([]string, len(a))
	for i, p := range a {
		lines[i] = strings.Join(p, " ")
	}
	return strings.Join(lines, "\n")
}

func (a article) words() (n int) {
	for _, p := range a {
		n += len(p)
	}
	return n
}

// read returns one article for each text in a folder. It skips articles with the same title as an
// earlier one.
func read(dir string) (all []article, err error) {
	titles := map[string]bool{}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		doc, err := extract.Parse(body, "text/html")
		if err != nil {
			return nil
		}
		var a article
		for line := range strings.Lines(doc.Text) {
			a = append(a, strings.Fields(line))
		}
		if a.words() >= 150 && len(a) > 3 && !titles[doc.Title] {
			titles[doc.Title] = true
			all = append(all, a)
		}
		return nil
	})
	return all, err
}

// A kind is a way to make a pair from an article and, for some kinds, a second article.
type kind struct {
	name      string
	duplicate bool
	change    func(rng *rand.Rand, a, other article) article
}

var kinds = []kind{
	{"other template", true, func(_ *rand.Rand, a, _ article) article {
		return append(append(article{strings.Fields("Home Search Archive Contact")}, a...), strings.Fields("All rights reserved. Printed from the archive of the paper."))
	}},
	{"corrected", true, func(rng *rand.Rand, a, other article) article {
		b := clone(a)
		p := longest(b)
		at := rng.IntN(max(len(b[p])-8, 1))
		copy(b[p][at:], longestOf(other)[:min(8, len(longestOf(other)), len(b[p])-at)])
		return b
	}},
	{"paragraph added", true, func(rng *rand.Rand, a, other article) article {
		at := rng.IntN(len(a))
		extra := longestOf(other)
		return append(append(append(article{}, a[:at]...), extra[:min(len(extra), a.words()/10)]), a[at:]...)
	}},
	{"reordered", true, func(rng *rand.Rand, a, _ article) article {
		b := clone(a)
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		return b
	}},
	{"spelled otherwise", true, func(rng *rand.Rand, a, _ article) article {
		return replaced(rng, a, 40, func(w string) string { return w + "e" })
	}},
	{"excerpt", false, func(rng *rand.Rand, a, _ article) article {
		b, want := article{}, a.words()/4
		for _, p := range a[rng.IntN(len(a)/2):] {
			if b = append(b, p); b.words() >= want {
				break
			}
		}
		return b
	}},
	{"quotes a third", false, func(_ *rand.Rand, a, other article) article {
		b, want := clone(other), a.words()/3
		quoted := 0
		for _, p := range a {
			if quoted >= want {
				break
			}
			b, quoted = append(b, p), quoted+len(p)
		}
		return b
	}},
	{"rewritten", false, func(rng *rand.Rand, a, other article) article {
		words := strings.Fields(join(other))
		return replaced(rng, a, 3, func(string) string { return words[rng.IntN(len(words))] })
	}},
}

func clone(a article) article {
	b := make(article, len(a))
	for i, p := range a {
		b[i] = append([]string(nil), p...)
	}
	return b
}

// replaced returns a copy of an article with about one word in n changed.
func replaced(rng *rand.Rand, a article, n int, change func(string) string) article {
	b := clone(a)
	for _, p := range b {
		for i := range p {
			if rng.IntN(n) == 0 {
				p[i] = change(p[i])
			}
		}
	}
	return b
}

func longest(a article) (at int) {
	for i := range a {
		if len(a[i]) > len(a[at]) {
			at = i
		}
	}
	return at
}

func longestOf(a article) []string { return a[longest(a)] }
