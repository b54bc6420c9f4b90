package badger

import (
	"path/filepath"

	"skink/store"
	"skink/store/badger/postings"
)

// A Finding is the result of [Check].
type Finding struct {
	Damage []Damage // of files that hold data of the crawl
	Index  []Damage // of files of the index, which are made again from the others
	Loss   Loss     // what the damage costs
	Tally  store.Tally
}

// Check reads all files of a store and returns what is damaged. It changes nothing.
func Check(dir string) (f Finding, err error) {
	s, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		return f, err
	}
	f.Loss, f.Tally = s.Loss(), s.counters.Tally
	f.Damage = f.Loss.Damage
	if !s.reading.damaged { // of a damaged store a copy is open, whose index was just made
		f.Index, err = s.checkIndex()
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return f, err
}

// checkIndex reads all files that the manifest of the index names, and returns the damaged ones.
func (s *Store) checkIndex() (found []Damage, err error) {
	m, err := s.readManifestKey()
	if err != nil {
		return nil, err
	}
	for _, e := range m.Segments {
		name := s.index.File(e.ID)
		if postings.CheckSegment(name) != nil {
			found = append(found, Damage{filepath.Base(name), "it cannot be read"})
		}
	}
	return found, nil
}
