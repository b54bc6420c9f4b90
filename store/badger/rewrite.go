package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"skink/base/lock"
	"skink/store"
	"skink/store/disk"
)

// # Rewriting a store
//
// Badger keeps old versions of a value in its files for a long time. So a store that must forget
// something is written again, to a folder inside its own. Then it takes the files of that folder. The
// name of the folder says how far this is. If the process is killed, [Open] completes the last two
// steps. The folder is synced between the steps, because a file system may write a later step first.
// A copy of a store is written in the same way, so an incomplete copy is no store.
//
//	skink.rewrite         incomplete; the next rewrite removes it
//	skink.rewrite.ready   complete; the old files are being removed
//	skink.rewrite.moving  the old files are gone; those in the folder are being moved
const rewriteName = "skink.rewrite"

var syncFolder = disk.SyncFolder // another function in a test

// RewriteIn returns the name of the folder in which the store in dir is rewritten, which may not exist
// yet. It removes what a killed process left there.
func RewriteIn(dir string) (string, error) {
	name := filepath.Join(dir, rewriteName)
	return name, os.RemoveAll(name)
}

// TakeRewritten replaces the store in dir by the complete one in the folder of [RewriteIn]. Both must
// be closed. It returns [store.ErrInUse] if another process has opened the store in dir.
func TakeRewritten(dir string) error {
	name := filepath.Join(dir, rewriteName)
	err := locked(dir, func() error {
		if err := syncFolder(name); err != nil {
			return err
		}
		if err := errors.Join(os.Rename(name, name+".ready"), syncFolder(dir)); err != nil {
			return err
		}
		return takeFiles(dir)
	})
	if err != nil {
		return fmt.Errorf("replace the files of store %s: %w", dir, err)
	}
	return nil
}

// isRewritten reports whether the store in dir has yet to take the files of a complete rewrite.
func isRewritten(dir string) bool {
	_, ready := os.Stat(filepath.Join(dir, rewriteName+".ready"))
	_, moving := os.Stat(filepath.Join(dir, rewriteName+".moving"))
	return ready == nil || moving == nil
}

func locked(dir string, do func() error) error {
	release, free, err := lock.Try(dir)
	switch {
	case err != nil:
		return err
	case !free:
		return store.ErrInUse
	}
	defer release()
	return do()
}

func takeFiles(dir string) error {
	ready, moving := filepath.Join(dir, rewriteName+".ready"), filepath.Join(dir, rewriteName+".moving")
	if _, err := os.Stat(ready); err == nil {
		if _, err := removeFiles(dir, configName); err != nil {
			return err
		}
		if err := syncFolder(dir); err != nil {
			return err
		}
		if err := os.Rename(ready, moving); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(moving)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process has completed it
	}
	for _, e := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(moving, e.Name()), filepath.Join(dir, e.Name())))
	}
	if err = errors.Join(err, syncFolder(dir)); err != nil {
		return err
	}
	return os.Remove(moving)
}
