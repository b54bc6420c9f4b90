package sitemap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// readText reads a list of URLs with one URL per line. It skips lines that are not http or https
// URLs. If the first nonempty line is not such a URL, the file is not a list.
func readText(in *bufio.Reader, emit func(Entry) error) error {
	begun := false
	for {
		line, err := readLine(in)
		if line = bytes.TrimSpace(line); isWebURL(line) {
			begun = true
			if err := emit(Entry{URL: string(line)}); err != nil {
				return err
			}
		} else if len(line) > 0 && !begun {
			return fmt.Errorf("the file begins with neither an element nor a URL: %w", ErrNone)
		}
		switch {
		case err == io.EOF && !begun:
			return fmt.Errorf("the file contains no URL: %w", ErrNone)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// readLine reads a line. It returns an empty line if the line is longer than [MaxText].
func readLine(in *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxText; !long {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			if long {
				line = nil
			}
			return line, err
		}
	}
}

func isWebURL(line []byte) bool {
	scheme, _, found := bytes.Cut(line, []byte("://"))
	return found && (bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https")))
}
