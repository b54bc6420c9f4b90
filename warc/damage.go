package warc

import (
	"fmt"
	"io"
)

// A Damage is the error for bytes in an archive that are not a readable record, or for an
// incomplete record. After returning it, the reader continues after those bytes.
type Damage struct {
	Offset int64  // offset in bytes of the record in the file, or of the gzip member that should contain it
	URI    string // the WARC-Target-URI of the damaged record; "" means unknown
	Err    error  // description of the damage
}

func (d *Damage) Error() string {
	if d.URI != "" {
		return fmt.Sprintf("at offset %d, in the record of %s: %v", d.Offset, d.URI, d.Err)
	}
	return fmt.Sprintf("at offset %d: %v", d.Offset, d.Err)
}

// Lost reports whether a record was lost. Otherwise the damage is only an irregularity of records that
// were read.
func (d *Damage) Lost() bool { return d.Err != ErrShared && d.Err != ErrLength }

func (d *Damage) Unwrap() error { return d.Err }

// unexpected returns err, or io.ErrUnexpectedEOF if err is io.EOF. It is used where the input must
// not end.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
