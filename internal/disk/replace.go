package disk

import "os"

// Replace replaces the file called name with one that contains b. After a power failure, either the
// old or the new file exists, and it is complete.
func Replace(name string, b []byte) error { return replaceBy(name+".new", name, b) }

// replaceBy is [Replace] with half as the name of the temporary file.
func replaceBy(half, name string, b []byte) error {
	f, err := os.OpenFile(half, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(half, name)
	}
	if err != nil {
		os.Remove(half)
	}
	return err
}
