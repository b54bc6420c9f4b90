package warc

import (
	"bufio"
	"bytes"
	"time"
)

// NewInfo begins the warcinfo of a file of some name, "" if it has none. What it says of itself
// are fields such as software, format, operator, robots, isPartOf.
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

// AppendFields appends what a block of type application/warc-fields holds.
func AppendFields(dst []byte, h Header) ([]byte, error) {
	dst, err := h.append(dst)
	return bytes.TrimSuffix(dst, []byte("\r\n")), err // an empty line belongs to heads
}

// Fields reads a block of type application/warc-fields. Lines that are no fields are passed over.
func (r *Record) Fields() (Header, error) {
	head := headReader{bufio.NewReader(r.Block), maxHead}
	h, err := head.fields(true)
	if err = expected(err); err != nil {
		return nil, err
	}
	return h, nil
}
