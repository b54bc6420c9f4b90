package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// FormatVersion is the version of the format of records and Settings.
const FormatVersion = 3

// Settings describe how the pages of a store are read and compared. They are fixed when the store
// is created, because sketches made with different settings cannot be compared.
type Settings struct {
	Format     int     `json:"format"`    // FormatVersion of the code that made the store
	Extractor  int     `json:"extractor"` // version of package extract
	Tokenizer  int     `json:"tokenizer"` // dedup.TokenizerVersion of the code that made the store
	Sketch     int     `json:"sketch"`    // dedup.SketchVersion of the code that made the store
	Form       string  `json:"form"`      // words that are dropped or changed before comparison, in the form that dedup.ParseForm reads
	Unit       string  `json:"unit"`      // unit of shingles: "word" or "char"
	Shingle    int     `json:"shingle"`   // number of units in one shingle
	Similarity float64 `json:"similarity"`
	Scheme     string  `json:"scheme"` // method for finding similar pages: bands, super or mega
	MinWords   int     `json:"min_words"`
	NoLinks    bool    `json:"no_links,omitempty"`   // the links of pages are not kept
	SkipTexts  bool    `json:"skip_texts,omitempty"` // the texts of duplicates are not kept, and few of their links are followed
	Documents  int     `json:"documents,omitempty"`  // version of package document; 0 means that documents that are not HTML have no text
	Contained  float64 `json:"contained,omitempty"`  // share of a page's runs of three words that its leader must contain; see [dedup.Rule]; 0 means that resemblance decides

	Markdown Markdown `json:"markdown,omitempty"` // form of the Markdown that is kept in addition to each text
}

// Markdown is the form in which each text is also kept as Markdown.
type Markdown string

const (
	NoMarkdown   Markdown = ""
	WordsOnly    Markdown = "words"    // Markdown without pictures
	WithPictures Markdown = "pictures" // Markdown with the pictures in the text
)

const settingsName = "settings"

// ReadSettings returns the settings of s, or nil for a store that has none yet.
func ReadSettings(ctx context.Context, s Reader) (*Settings, error) {
	b, err := s.Meta(ctx, settingsName)
	if err != nil || b == nil {
		return nil, err
	}
	var set Settings
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("read settings: %w: %v", ErrCorrupt, err)
	}
	return &set, nil
}

// WriteSettings sets the settings of a store that has none. If the store has settings already, for
// example because another process has just set them, WriteSettings changes nothing and returns
// [ErrChanged].
func WriteSettings(ctx context.Context, m Meta, set Settings) error {
	b, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return m.SwapMeta(ctx, settingsName, nil, b)
}
