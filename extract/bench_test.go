package extract

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"skink/extract/markup"
)

// benchPages are the golden pages, or the .html files of the folder that SKINK_PAGES names.
func benchPages(b *testing.B) (pages [][]byte, size int64) {
	dir := "testdata"
	if named := os.Getenv("SKINK_PAGES"); named != "" {
		dir = named
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "containers" {
			return filepath.SkipDir // large pages of a few generators
		}
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		page, err := os.ReadFile(path)
		pages = append(pages, page)
		size += int64(len(page))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	if len(pages) == 0 {
		b.Skip("no pages in " + dir)
	}
	return pages, size
}

// BenchmarkParse is a page from bytes to Document.
func BenchmarkParse(b *testing.B) {
	pages, size := benchPages(b)
	b.SetBytes(size / int64(len(pages)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := Parse(pages[i%len(pages)], "text/html"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTree is the part of Parse that is not ours: the HTML parser.
func BenchmarkTree(b *testing.B) {
	pages, size := benchPages(b)
	b.SetBytes(size / int64(len(pages)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := html.Parse(bytes.NewReader(pages[i%len(pages)])); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExtract is the rest: metadata, links and main text from the tree.
func BenchmarkExtract(b *testing.B) {
	pages, size := benchPages(b)
	var trees []*goquery.Document
	for _, page := range pages {
		text, _ := decode(page, "text/html", true)
		if root, _ := tree(text, MaxTree); root != nil {
			trees = append(trees, goquery.NewDocumentFromNode(root))
		}
	}
	b.SetBytes(size / int64(len(pages)))
	b.ReportAllocs()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		Options{}.read(trees[i%len(trees)], &Document{})
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns/op")
}

// BenchmarkMarkup is the part of Parse with Options.Markup that checks the HTML.
func BenchmarkMarkup(b *testing.B) {
	pages, size := benchPages(b)
	var roots []*html.Node
	for _, page := range pages {
		if root, bound := tree(page, MaxTree); bound == "" {
			roots = append(roots, root)
		}
	}
	b.SetBytes(size / int64(len(pages)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		markup.Read(roots[i%len(roots)], markup.Options{})
	}
}
