package redis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"skink/store"
)

// # Texts in a folder
//
// Texts are most of what a page costs in memory. A store may keep them in a folder that all
// workers share under one path, a file each: PARTITION/CHUNK/NUMBER, as store.Pack made it.
// The folder is named at the store's birth, in the named value "texts", and whoever opens
// the store later reads it from there. A text is written before its record; what a commit
// that failed left is named by a number that nothing will ever have. Whether a text
// survives a power cut is the folder's affair.

// elsewhere stands in the place of a text that is in a file.
const elsewhere = "f"

const textsName = "texts"

// nameTexts says of a store that is about to be made where its texts will be.
func (s *Store) nameTexts(ctx context.Context, wanted string) error {
	if wanted == "" {
		return nil
	}
	path, err := filepath.Abs(wanted)
	if err != nil {
		return err
	}
	return s.SetMeta(ctx, textsName, []byte(path))
}

// settleTexts finds out where texts are.
func (s *Store) settleTexts(ctx context.Context, wanted string) error {
	if wanted != "" {
		path, err := filepath.Abs(wanted)
		if err != nil {
			return err
		}
		wanted = path
	}
	kept, err := s.Meta(ctx, textsName)
	if err != nil {
		return err
	}
	s.texts = string(kept)
	switch {
	case wanted == "" || wanted == s.texts:
		return nil
	case s.texts == "":
		return fmt.Errorf("the store keeps its texts on its servers, not in %s: that is settled when a store is made", wanted)
	}
	return fmt.Errorf("the store keeps its texts in %s, not in %s: all workers name one folder", s.texts, wanted)
}

func (s *Store) textFile(v visit) string {
	return filepath.Join(s.texts, partNames[v.part], strconv.FormatUint(v.n/chunkSize, 10), strconv.FormatUint(v.n, 10))
}

// keepText writes a text and returns what stands for it in the visit.
func (s *Store) keepText(v visit, packed []byte) (string, error) {
	if s.texts == "" {
		return textMark + string(packed), nil
	}
	name := s.textFile(v)
	err := os.WriteFile(name, packed, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = os.WriteFile(name, packed, 0o600)
		}
	}
	return elsewhere, err
}

// dropText removes the text of a visit that is gone.
func (s *Store) dropText(v visit) error {
	if s.texts == "" {
		return nil
	}
	if err := os.Remove(s.textFile(v)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readText is the text of a visit, and its Markdown.
func (s *Store) readText(v visit, value string) (text, markdown []byte, err error) {
	packed := []byte(value[len(textMark):])
	if value == elsewhere {
		if packed, err = os.ReadFile(s.textFile(v)); err != nil {
			return nil, nil, fmt.Errorf("the texts of the store are in a folder that all share: %w", err)
		}
	}
	return store.UnpackMarked(packed)
}
