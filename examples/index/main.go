// Command index prints the lines of its input that are not nearly equal to an earlier line. The file keeps what was
// read, so the next run continues:
//
//	go run ./examples/index FILE <lines.txt
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"skink/dedup"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: index FILE <lines.txt")
	}
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(file string, in io.Reader, out io.Writer) error {
	index, err := load(file)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		switch v := index.Add(lines.Text(), lines.Text()); v.Kind {
		case dedup.Unique, dedup.Thin:
			fmt.Fprintln(out, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return save(index, file)
}

func load(file string) (*dedup.Index, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		rule, err := dedup.NewRule(0.6, "bands", 1) // 1: lines are short, and a thin text is compared with no other
		if err != nil {
			return nil, err
		}
		rule.Shingling.K = 3 // with ten words, the default, one other word would change a whole line
		return dedup.NewIndex(rule), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return dedup.LoadIndex(f)
}

// save writes another file first, so that a killed program leaves the old index.
func save(index *dedup.Index, file string) error {
	f, err := os.Create(file + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(index.Save(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
