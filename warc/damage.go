package warc

import (
	"errors"
	"fmt"
	"io"
)

// A Damage is a part of an archive that could not be read as a record, or only in part. The reader
// goes on behind it.
type Damage struct {
	Offset int64  // where the record begins in the file, or the gzip member in which it should be
	URI    string // what the record is about, if that could be read
	Err    error  // what is wrong
}

func (d *Damage) Error() string {
	if d.URI != "" {
		return fmt.Sprintf("at offset %d, %s: %v", d.Offset, d.URI, d.Err)
	}
	return fmt.Sprintf("at offset %d: %v", d.Offset, d.Err)
}

func (d *Damage) Unwrap() error { return d.Err }

// unexpected turns io.EOF into io.ErrUnexpectedEOF, for a place where the input must not end.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// expected returns nil for io.ErrUnexpectedEOF, for a place where the input may end.
func expected(err error) error {
	if err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// tell passes a damage to damaged, and reports whether the error was one.
func tell(err error, rec *Record, damaged func(*Damage)) bool {
	lost, ok := errors.AsType[*Damage](err)
	if !ok && rec != nil { // a message in it that makes no sense
		lost, ok = &Damage{rec.Offset, rec.URI(), err}, true
	}
	if ok {
		damaged(lost)
	}
	return ok
}
