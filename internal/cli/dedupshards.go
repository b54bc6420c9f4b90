package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skink/internal/corpus"
	"skink/internal/lock"
)

// # One output for each input
//
// A corpus often consists of many files in the same format, called shards, and users want one
// output file per shard. All output files are written into a hidden folder next to the folder of
// --out-dir. When all files are complete, the hidden folder is renamed to that folder. So a failed
// run never leaves a folder with missing shards.

// shards writes the kept records of each input to a separate file.
type shards struct {
	dir      string            // hidden folder for the output files
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
	if err := mayWrite("--out-dir", f.dir, nil); err != nil {
		return nil, err
	}
	switch entries, err := os.ReadDir(f.dir); {
	case err == nil && len(entries) > 0:
		return nil, usagef("--out-dir %s is not empty: specify a new folder", f.dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, usagef("--out-dir %s is not a folder: specify a new folder", f.dir)
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

// writeShards creates the folder of --out-dir and calls fill with the shards in it. The folder
// appears only if fill succeeds.
func (f *corpusOutFlags) writeShards(files map[string]string, fill func(*shards) error) (err error) {
	parent, prefix := filepath.Dir(f.dir), tempPrefix(f.dir)
	lock.RemoveStale(parent, prefix)
	dir, err := os.MkdirTemp(parent, prefix+"*")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("create folder %s: the folder %s does not exist: create it first", f.dir, parent)
	}
	if err != nil {
		return fmt.Errorf("create folder %s: %w", f.dir, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	if release, _, err := lock.Try(dir); err == nil {
		defer release()
	}
	s := &shards{dir: dir, annotate: f.annotate, files: files}
	if err := keepFirst(fill(s), s.end()); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := os.Remove(f.dir); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty folder may exist
		return fmt.Errorf("create folder %s: %w", f.dir, err)
	}
	return os.Rename(dir, f.dir)
}

func (s *shards) take(r *corpus.Record, note corpus.Note, kept bool) error {
	if r.Line == 0 { // the input is a single text, so its output is a copy
		if !kept {
			return nil
		}
		return s.copy(r.Input)
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
	if s.file != nil && s.file.Name() == name { // the next archive in the same package
		s.input = r.Input
		return nil
	}
	if err := s.end(); err != nil {
		return err
	}
	file, err := create(name)
	if err != nil {
		return err
	}
	s.input, s.file, s.writer = r.Input, file, corpus.NewWriter(file, name, s.annotate)
	return s.writer.Begin(r)
}

// outputOf returns the path of the output for an input. If the input is an archive in a package,
// its name is a path below the name of the package.
func (s *shards) outputOf(input string) string {
	for name := input; ; name = filepath.Dir(name) {
		if below, ok := s.files[name]; ok {
			return filepath.Join(s.dir, below)
		}
		if name == filepath.Dir(name) {
			return filepath.Join(s.dir, filepath.Base(input))
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

func (s *shards) copy(input string) error {
	from, err := os.Open(input)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := create(s.outputOf(input))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

func create(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	return os.Create(name)
}
