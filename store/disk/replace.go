package disk

import (
	"os"
	"runtime"
)

// Replace replaces the content of the named file with b. After a power failure, the file has either
// the old or the new content, never only a part of it.
func Replace(name string, b []byte) error { return replaceBy(name+".new", name, b) }

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

// SyncFolder makes the names in a folder survive a power failure. Windows does this by itself.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
