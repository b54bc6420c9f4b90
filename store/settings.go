package store

import (
	"context"
	"encoding/json"
)

// FormatVersion is the version of the format of records and Settings.
const FormatVersion = 7

// Settings determine how the pages of a store are read and compared. They are fixed when the store
// is created, because sketches made with different settings cannot be compared.
type Settings struct {
	Format     int     `json:"format"`    // FormatVersion of the program that created the store
	Extractor  int     `json:"extractor"` // version of package extract
	Tokenizer  int     `json:"tokenizer"` // dedup.TokenizerVersion of the program that created the store
	Sketch     int     `json:"sketch"`    // dedup.SketchVersion of the program that created the store
	Unit       string  `json:"unit"`      // unit of shingles: "word" or "char"
	Shingle    int     `json:"shingle"`   // units per shingle
	Similarity float64 `json:"similarity"`
	Scheme     string  `json:"scheme"` // method for finding similar pages: bands, super or mega
	MinWords   int     `json:"min_words"`
	NoLinks    bool    `json:"no_links,omitempty"`   // do not keep links
	SkipTexts  bool    `json:"skip_texts,omitempty"` // do not keep the text of duplicates, and follow few of their links
	Documents  int     `json:"documents,omitempty"`  // version of package document; 0 means that only HTML documents have text
	Contained  float64 `json:"contained,omitempty"`  // share of a page's three-word runs that its leader must contain; see [dedup.Rule]; 0 means that resemblance decides

	Selectors  map[string]map[string][]string `json:"selectors,omitempty"`  // rules of package extract/selector by pattern of hosts
	Reselected bool                           `json:"reselected,omitempty"` // the selectors have changed; see Record.Selectors

	Markdown Markdown `json:"markdown,omitempty"` // kind of Markdown to keep in addition to each text
}

// Markdown is the kind of Markdown, if any, that a store keeps in addition to each text.
type Markdown string

const (
	NoMarkdown Markdown = ""
	WordsOnly  Markdown = "words"  // Markdown without images
	WithImages Markdown = "images" // Markdown with the images in the text
)

const settingsName = "settings"

// SetSelectors replaces the selectors of a store that has settings.
func SetSelectors(ctx context.Context, s MetaSwapper, selectors map[string]map[string][]string) error {
	return ChangeMeta(ctx, s, settingsName, "settings", func(set *Settings) (*Settings, error) {
		set.Selectors, set.Reselected = selectors, true
		return set, nil
	})
}

// ReadSettings returns the settings of s, or nil if it has none yet.
func ReadSettings(ctx context.Context, s Reader) (*Settings, error) {
	return ReadMeta[Settings](ctx, s, settingsName, "settings")
}

// WriteSettings sets the settings of a store that has none. If the store already has settings,
// perhaps because another process has just set them, WriteSettings changes nothing and returns
// [ErrChanged].
func WriteSettings(ctx context.Context, m Meta, set Settings) error {
	b, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return m.SwapMeta(ctx, settingsName, nil, b)
}
