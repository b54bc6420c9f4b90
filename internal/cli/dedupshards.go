package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skink/internal/bucket"
	"skink/internal/corpus"
	"skink/internal/output"
)

// # One output for each input
//
// A corpus often consists of many files in the same format, called shards, and users want one
// output file per shard. All output files are written into a hidden folder next to the folder of
// --out-dir. When all files are complete, the hidden folder is renamed to that folder. So a failed
// run never leaves a folder with missing shards.

// shards writes the kept records of each input to a separate file.
type shards struct {
	dir      *output.Folder
	annotate bool              // whether to add the verdict to each record
	files    map[string]string // path of each input's output below dir, by input name

	input  string
	file   *os.File // output of the current input; nil if no output is open
	writer *corpus.Writer
}

// checkShards returns, by input name, the path of each output below the folder of --out-dir. It
// returns an error if that folder cannot be created, if an input is standard input, or if two
// inputs would have the same output.
func (f *corpusOutFlags) checkShards(in *corpus.Inputs) (map[string]string, error) {
	switch entries, err := os.ReadDir(f.dir); {
	case err == nil && len(entries) > 0:
		return nil, usagef("--out-dir %s is not empty: specify a new folder", f.dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, usageError{Err: err}
	}
	files, from := map[string]string{}, map[string]string{}
	for file, err := range in.Files() {
		if err != nil {
			return nil, err
		}
		name, below := file.Name, file.Below
		if name == "-" {
			return nil, usagef("--out-dir writes one file for each input file: specify files instead of -")
		}
		if cut, ok := strings.CutSuffix(below, ".wacz"); ok { // the output for a package is one archive with the kept records of its archives
			below = cut + ".warc.gz"
		}
		if other, ok := from[below]; ok {
			return nil, usagef("--out-dir: %s and %s would both be written to %s: pass one folder that contains both", other, name, below)
		}
		files[name], from[below] = below, name
	}
	return files, nil
}

func (s *shards) take(r *corpus.Record, note corpus.Note, kept bool) error {
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

func (s *shards) begin(r *corpus.Record) error {
	name := s.outputOf(r.Input)
	if s.file != nil && s.file.Name() == s.dir.Path(name) { // the next archive in the same package
		s.input = r.Input
		return nil
	}
	if err := s.end(); err != nil {
		return err
	}
	file, err := s.dir.Create(name)
	if err != nil {
		return err
	}
	s.input, s.file, s.writer = r.Input, file, corpus.NewWriter(file, name, s.annotate)
	return s.writer.Begin(r)
}

// outputOf returns the path, below s.dir, of the output for an input. If the input is an archive in a package,
// its name is a path below the name of the package.
func (s *shards) outputOf(input string) string {
	for name := input; ; name = filepath.Dir(name) {
		if below, ok := s.files[name]; ok {
			return below
		}
		if name == filepath.Dir(name) {
			return filepath.Base(input)
		}
	}
}

func (s *shards) end() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.writer.Close(), s.file.Close())
	s.file, s.writer, s.input = nil, nil, ""
	return err
}

// copy copies the input of a record that is a whole file. An object is packed again.
func (s *shards) copy(r *corpus.Record) error {
	name := s.outputOf(r.Input)
	to, err := s.dir.Create(name)
	if err != nil {
		return err
	}
	if bucket.IsAddress(r.Input) {
		pack := corpus.Pack(to, name)
		_, err = pack.Write(r.Raw)
		return errors.Join(err, pack.Close(), to.Close())
	}
	from, err := os.Open(r.Input)
	if err == nil {
		_, err = io.Copy(to, from)
		from.Close()
	}
	return errors.Join(err, to.Close())
}
