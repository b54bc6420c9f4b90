package warc

import (
	"bufio"
	"bytes"
	"time"
)

// NewInfo returns a warcinfo record, which describes a file and is its first record. filename is
// the name of the file, or "". about contains fields such as software, format, operator, robots and
// isPartOf.
func NewInfo(filename string, date time.Time, about Header) (*Record, error) {
	block, err := AppendFields(nil, about)
	if err != nil {
		return nil, err
	}
	r := New(Info, "", date, TypeFields, block)
	if filename != "" {
		r.Header.Add("WARC-Filename", filename)
	}
	return r, nil
}

// AppendFields appends h to dst in the format of a block of type application/warc-fields: one
// "Name: value" per line.
func AppendFields(dst []byte, h Header) ([]byte, error) {
	dst, err := h.append(dst)
	return bytes.TrimSuffix(dst, []byte("\r\n")), err // Header.append ends with an empty line, as in HTTP heads; this format has none
}

// Fields reads the record's block, which must be of type application/warc-fields, and returns its
// fields. It skips lines that are not fields.
func (r *Record) Fields() (Header, error) {
	head := headReader{bufio.NewReader(r.Block), maxHead}
	h, err := head.fields(true)
	if err = expected(err); err != nil {
		return nil, err
	}
	return h, nil
}
