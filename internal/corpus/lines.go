package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

func (in *Inputs) readLines(i input, from io.Reader, yield func(*Record, error) bool, failed func(error) bool) bool {
	b := bufio.NewReaderSize(from, bufferSize)
	for n := 1; ; n++ {
		raw, long, err := readLine(b, in.maxRecord())
		if err != nil && !errors.Is(err, io.EOF) {
			return failed(err)
		}
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte(bom))
		}
		if long || len(bytes.TrimSpace(raw)) > 0 {
			r := &Record{Input: i.name, Line: n, Raw: raw, fields: in.Fields}
			if long {
				r.Raw, r.bad = nil, tooLong(in.maxRecord())
			}
			if !yield(r, nil) {
				return false
			}
		}
		if err != nil {
			return true
		}
	}
}

// If the line is longer than most bytes, readLine returns only the beginning, and long is true.
func readLine(b *bufio.Reader, most int) (line []byte, long bool, err error) {
	for {
		part, err := b.ReadSlice('\n')
		if long = long || len(line)+len(part) > most+1; !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), long, err
		}
	}
}
