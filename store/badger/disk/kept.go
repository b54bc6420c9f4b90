package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skink/store"
)

// # What is kept beside a store
//
// A value that was made of a store's pages and can be made of them again, see [store.Keeper], is a
// file in the store's folder, NAME.kept. Whoever reads the store may write it, and nobody locks
// anything: it is written as NAME.RANDOM.kept.new, and then renamed. The second of two who keep a
// value at once removes what the first has not renamed yet, which may as well have been left by a
// process that was killed.

// KeptExt is the extension of files that hold no part of a store.
const KeptExt = ".kept"

const halfExt = KeptExt + ".new"

// Kept returns what is kept under a name beside the store in dir; nil: nothing is.
func Kept(ctx context.Context, dir, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(dir, name+KeptExt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Keep keeps a value under a name beside the store in dir, if there is room for it.
func Keep(ctx context.Context, dir, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	space := Space{Dir: dir}
	if !space.HasRoom(int64(len(value))) {
		return fmt.Errorf("%s: %w: there is no room for %d bytes more", dir, store.ErrFull, len(value))
	}
	if err := removeHalves(dir, name); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	return replaceBy(path+"."+rand.Text()+halfExt, path+KeptExt, value)
}

// removeHalves removes what others began to keep under a name.
func removeHalves(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name+".") || !strings.HasSuffix(e.Name(), halfExt) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
