package warc

import (
	"bufio"
	"bytes"
	"time"
)

// NewInfo returns a warcinfo record of a file. filename is "" if the file has no name. about holds
// fields such as software, format, operator, robots and isPartOf.
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

// AppendFields appends fields as a block of type application/warc-fields holds them.
func AppendFields(dst []byte, h Header) ([]byte, error) {
	dst, err := h.append(dst)
	return bytes.TrimSuffix(dst, []byte("\r\n")), err // an empty line belongs to heads
}

// Fields reads a block of type application/warc-fields. It skips lines that are not fields.
func (r *Record) Fields() (Header, error) {
	head := headReader{bufio.NewReader(r.Block), maxHead}
	h, err := head.fields(true)
	if err = expected(err); err != nil {
		return nil, err
	}
	return h, nil
}
