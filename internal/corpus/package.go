package corpus

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"skink/internal/output"
)

// readPackage yields the records of the archives in a WACZ package, which is a ZIP file. The result
// read is false if it is another kind of ZIP file. The result more is false if the caller wants no
// more records.
func (in *Inputs) readPackage(i input, f io.Reader, b *Unpacker, yield func(*Record, error) bool, failed func(error) bool) (read, more bool) {
	file, onDisk := f.(*os.File)
	if !onDisk || b.Packed { // a ZIP file is read from its end, so it must be an uncompressed file on disk
		var err error
		var done func() error
		if file, done, err = output.Temporary("skink-wacz-"); err == nil {
			defer done()
			_, err = io.Copy(file, b)
		}
		if err != nil {
			return true, failed(fmt.Errorf("unpack the input into a temporary file: %w", err))
		}
	}
	info, err := file.Stat()
	if err != nil {
		return true, failed(err)
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil && (!onDisk || b.Packed || strings.HasSuffix(i.name, ".wacz")) {
		return true, failed(err)
	}
	var archives []*zip.File
	if err == nil {
		archives = Packaged(z)
	}
	var files []Archive
	for _, a := range archives {
		files = append(files, Archive{i.name + "/" + a.Name, a.Open})
	}
	in.once.Do(func() { in.originals = Originals(append(files, in.archives()...)) }) // archives cannot find a package from a pipe
	switch {
	case len(archives) > 0:
	case onDisk && !b.Packed: // f was read with ReadAt only, so its content can still be read from the beginning
		return false, true
	default:
		return true, failed(errors.New("a ZIP file without a web archive in its archive/ folder"))
	}
	for _, a := range archives {
		of, err := a.Open()
		if err != nil {
			return true, failed(err)
		}
		more := in.readArchive(input{name: i.String() + "/" + a.Name, inside: i.inside}, of, yield, failed)
		of.Close()
		if !more {
			return true, false
		}
	}
	return true, true
}
