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
	"skink/extract/tree"
)

// benchPages returns the pages for the benchmarks: the golden pages, or the .html files in the
// folder SKINK_PAGES.
func benchPages(b *testing.B) (pages [][]byte, size int64) {
	dir := "testdata"
	if named := os.Getenv("SKINK_PAGES"); named != "" {
		dir = named
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "containers" {
			return filepath.SkipDir // these are large pages of only a few generators
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

// BenchmarkParse measures Parse on the bytes of a page.
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

// BenchmarkTree measures the HTML parser alone, which is the part of Parse in another package.
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

// BenchmarkExtract measures the rest of Parse: metadata, links and main text from the parsed tree.
func BenchmarkExtract(b *testing.B) {
	pages, size := benchPages(b)
	var trees []*goquery.Document
	for _, page := range pages {
		text, _ := decode(page, "text/html", true)
		if root, _ := tree.HTML(text, tree.Max); root != nil {
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
		if root, err := tree.HTML(page, tree.Max); err == nil {
			roots = append(roots, root)
		}
	}
	b.SetBytes(size / int64(len(pages)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		markup.Read(roots[i%len(roots)], markup.Options{})
	}
}
