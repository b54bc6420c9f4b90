package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skink/dedup"
)

// readArticles reads a benchmark. It returns the pages that have a box with the article, and the
// number of other pages. It skips articles that are too short to be compared.
func readArticles(dir string) (pages []*page, left int, err error) {
	truth, err := readTruth(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range slices.Sorted(maps.Keys(truth)) {
		var t dedup.Text
		if t.Read([]byte(truth[id])); t.Len() < dedup.DefaultMinWords {
			continue
		}
		source, err := os.ReadFile(filepath.Join(dir, "html", id+".html"))
		if err != nil {
			return nil, 0, err
		}
		if p := newPage(id[:min(8, len(id))], source, truth[id]); p != nil {
			pages = append(pages, p)
		} else {
			left++
		}
	}
	return pages, left, nil
}

// readTruth reads the text of each article, by ID, in either form described in the package comment.
func readTruth(dir string) (map[string]string, error) {
	articles := map[string]string{}
	var one map[string]struct {
		ArticleBody string `json:"articleBody"`
	}
	err := readJSON(filepath.Join(dir, "ground-truth.json"), &one)
	if err == nil {
		for id, t := range one {
			articles[id] = t.ArticleBody
		}
		return articles, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Join(dir, "ground-truth"))
	for _, f := range files {
		var t struct {
			Internal struct {
				PageType struct {
					Primary string `json:"primary"`
				} `json:"page_type"`
			} `json:"_internal"`
			Truth struct {
				MainContent string `json:"main_content"`
			} `json:"ground_truth"`
		}
		if err := readJSON(filepath.Join(dir, "ground-truth", f.Name()), &t); err != nil {
			return nil, err
		}
		if t.Internal.PageType.Primary == "article" {
			articles[strings.TrimSuffix(f.Name(), ".json")] = t.Truth.MainContent
		}
	}
	return articles, err
}

func readJSON(name string, v any) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func readSite(dir string) (texts []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") || !d.Type().IsRegular() {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts = append(texts, takeHTML(source).text)
		return nil
	})
	return texts, err
}
