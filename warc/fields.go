package warc

import (
	"bytes"
	"time"
)

// NewInfo returns a warcinfo record, which describes a file and is its first record. filename is
// the name of the file, or "". about contains fields such as software, format, operator, robots and
// isPartOf.
func NewInfo(filename string, date time.Time, about Header) (*Record, error) {
	block, err := about.append(nil)
	if err != nil {
		return nil, err
	}
	r := New(Info, "", date, TypeFields, bytes.TrimSuffix(block, []byte("\r\n"))) // Header.append ends with an empty line, as in HTTP heads; this format has none
	if filename != "" {
		r.Header.Add("WARC-Filename", filename)
	}
	return r, nil
}
