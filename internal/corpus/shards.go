package corpus

import (
	"errors"
	"os"
	"path/filepath"

	"skink/internal/output"
)

// # One output for each input
//
// A corpus often consists of many files in the same format, called shards, and users want one
// output file per shard. All output files are written into a hidden folder next to the folder of
// --out-dir. When all files are complete, the hidden folder is renamed to that folder. So a failed
// run never leaves a folder with missing shards.

// Shards write the kept records of each input to a separate file.
type Shards struct {
	Dir      *output.Folder
	Annotate bool              // whether to add the verdict to each record
	Files    map[string]string // path of each input's output below Dir, by input name

	input  string
	file   *os.File // output of the current input; nil if no output is open
	writer *Writer
}

// Take writes a record to the output of its input if it is kept.
func (s *Shards) Take(r *Record, note Note, kept bool) error {
	if r.Line == 0 { // the input is a single text, so its output is a copy
		if !kept {
			return nil
		}
		return s.copy(r)
	}
	if s.input != r.Input {
		if err := s.begin(r); err != nil {
			return err
		}
	}
	if !kept {
		return nil
	}
	return s.writer.Write(r, note)
}

func (s *Shards) begin(r *Record) error {
	name := s.outputOf(r.Input)
	if s.file != nil && s.file.Name() == s.Dir.Path(name) { // the next archive in the same package
		s.input = r.Input
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	file, err := s.Dir.Create(name)
	if err != nil {
		return err
	}
	s.input, s.file, s.writer = r.Input, file, NewWriter(file, name, s.Annotate)
	return s.writer.Begin(r)
}

// outputOf returns the path, below s.Dir, of the output for an input. If the input is an archive in a package,
// its name is a path below the name of the package.
func (s *Shards) outputOf(input string) string {
	for name := input; ; name = filepath.Dir(name) {
		if below, ok := s.Files[name]; ok {
			return below
		}
		if name == filepath.Dir(name) {
			return filepath.Base(input)
		}
	}
}

// Close completes the last output.
func (s *Shards) Close() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.writer.Close(), s.file.Close())
	s.file, s.writer, s.input = nil, nil, ""
	return err
}

// copy writes the text of a record that is a whole file.
func (s *Shards) copy(r *Record) error {
	name := s.outputOf(r.Input)
	to, err := s.Dir.Create(name)
	if err != nil {
		return err
	}
	pack := Pack(to, name)
	_, err = pack.Write(r.Raw)
	return errors.Join(err, pack.Close(), to.Close())
}
