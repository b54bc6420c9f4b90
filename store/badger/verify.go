package badger

import (
	"path/filepath"

	"skink/store"
	"skink/store/badger/postings"
)

// A Finding is the result of [Check].
type Finding struct {
	Damage []Damage // damaged files with data of the crawl
	Index  []Damage // damaged files of the index, which can be rebuilt without loss
	Loss   Loss     // data lost because of Damage
	Tally  store.Tally
}

// Check reads all files of a store and lists the damage. It changes nothing.
func Check(dir string) (f Finding, err error) {
	s, err := Open(dir, Options{ReadOnly: true, all: true})
	if err != nil {
		return f, err
	}
	f.Loss, f.Tally = s.Loss(), s.counters.Tally
	f.Damage = f.Loss.Damage
	if f.Damage == nil { // for a damaged store, s is a new store with what is readable
		f.Index, err = s.checkIndex()
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return f, err
}

// checkIndex reads all files named in the manifest of the index, and returns the damaged ones.
func (s *Store) checkIndex() (found []Damage, err error) {
	m, err := s.readManifestKey()
	if err != nil {
		return nil, err
	}
	for _, e := range m.Segments {
		name := s.index.File(e.ID)
		if postings.CheckSegment(name) != nil {
			found = append(found, Damage{filepath.Base(name), "cannot be read"})
		}
	}
	return found, nil
}
