package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"skink/base/harmless"
	"skink/report"
	"skink/store"
	"skink/store/badger"
	"skink/store/disk"
	"skink/store/postgres"
)

const tellEvery = 10 * time.Second

// copyStore copies the named store to a new store. On failure, it removes the incomplete copy.
func copyStore(ctx context.Context, con Console, name, copyName string) (err error) {
	if err := roomFor(name, copyName); err != nil {
		return err
	}
	from, err := openToRead(ctx, name, con.Err)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, from.close()) }()
	if len(from.loss.Damage) > 0 {
		fmt.Fprintf(con.Err, "%s\nThe copy may need another %s.\n", damageText(from.loss), report.Bytes(disk.Use(name)))
	}
	if err := isNew(ctx, copyName); err != nil {
		return err
	}
	n, err := makeCopy(ctx, con, copyName)
	if err != nil {
		return err
	}
	told := time.Now()
	source := from.Reader.(store.Dumper) // every store opened by openToRead is a Dumper
	err = store.Copy(ctx, n.store, source, func(pages int64) {
		if isShared(copyName) {
			_, _ = n.store.Claim(ctx, "store copy", 0, time.Minute) // claims no host, but shows other processes that the store is in use
		}
		if time.Since(told) > tellEvery {
			told = time.Now()
			fmt.Fprintf(con.Err, "%s copied\n", report.Counted(pages, "record"))
		}
	})
	var text string
	if err == nil {
		text, err = contents(ctx, n.store)
	}
	if err = keepFirst(err, n.store.Close()); err == nil {
		err = copyConfig(name, n.name)
	}
	if err == nil {
		err = n.finish()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copy %s to %s: %w", name, copyName, err), n.remove())
	}
	fmt.Fprintf(con.Err, "copied %s to %s: %s\n", harmless.Line(name), harmless.Line(copyName), text)
	return nil
}

// roomFor returns an error if the disk has no room for a copy of a store in a folder to another
// folder.
func roomFor(name, copyName string) error {
	if isShared(name) || isShared(copyName) {
		return nil
	}
	place := filepath.Clean(copyName)
	for place != filepath.Dir(place) {
		if _, err := os.Stat(place); err == nil {
			break
		}
		place = filepath.Dir(place)
	}
	free, _, err := (&disk.Space{Dir: place}).Left()
	if need := disk.Use(name); err == nil && free < need {
		return fmt.Errorf("copy %s to %s: %w: the copy may need %s, but only %s are free: choose another disk", name, copyName, store.ErrFull, report.Bytes(need), report.Bytes(free))
	}
	return nil
}

// A newCopy is the store that a copy creates. While the copy is incomplete, a folder has a
// temporary name. A schema has its final name from the start, but contains a mark that
// [store.CheckCopied] looks for.
type newCopy struct {
	store  store.Store
	name   string       // name of the folder or schema
	finish func() error // renames a folder to its final name
	remove func() error
}

func makeCopy(ctx context.Context, con Console, name string) (n newCopy, err error) {
	if isShared(name) {
		s, at, err := openPostgres(ctx, name, postgres.Options{Create: true, Value: store.CopyMark()})
		if err != nil {
			return n, err
		}
		remove := func() error { return postgres.Drop(context.WithoutCancel(ctx), at) }
		return newCopy{s, name, func() error { return nil }, remove}, nil
	}
	to, err := con.files.ClaimFolder("the copy", name, true)
	if err != nil {
		return n, usageError{Err: err}
	}
	half := filepath.Clean(name) + ".copying"
	if badger.IsStore(half) { // left by a copy that was killed
		if _, err := badger.Remove(half); err != nil {
			return n, dropError(half, err)
		}
	}
	place := aboutToOpen(half)
	s, err := open(half, badger.Options{Create: true})
	if err != nil {
		return n, err
	}
	return newCopy{s, half, func() error { return to.Take(half) }, place.discard}, nil
}

func contents(ctx context.Context, s store.Store) (string, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return "", err
	}
	counts, err := s.Counts(ctx)
	return fmt.Sprintf("%s, %s pending", report.Counted(tally.Pages(), "page"), report.Counted(counts.Pending, "URL")), err
}

// isNew returns an error if the named store exists, or is a folder that is not empty. It removes an
// incomplete copy.
func isNew(ctx context.Context, name string) error {
	if !isShared(name) {
		if err := isFolder(name); err != nil {
			return err
		}
		switch files, err := os.ReadDir(name); {
		case err == nil && len(files) > 0:
			return usagef("%s already exists and is not empty: choose another folder, or remove the store with skink store drop --yes", name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return nil
	}
	at, err := addressOf(name)
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, at, postgres.Options{ReadOnly: true})
	switch {
	case errors.Is(err, store.ErrNotExist):
		return nil
	case err != nil:
		return openError(at.String(), err, false)
	}
	err = store.CheckCopied(ctx, s)
	if err = errors.Join(err, s.Close()); errors.Is(err, store.ErrIncomplete) {
		return postgres.Drop(ctx, at)
	}
	return keepFirst(err, usagef("%s already exists: choose another schema, or remove the store with skink store drop --yes", at))
}

// copyConfig copies the configuration file of a store to its copy, without secrets, if both are in
// folders.
func copyConfig(name, copyName string) error {
	if isShared(name) || isShared(copyName) {
		return nil
	}
	file := filepath.Join(name, configFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return copyConfigFile(file, text, copyName)
}

// incomplete adds a suggestion for the user to err, the error from [store.CheckCopied], if it is
// [store.ErrIncomplete].
func incomplete(name string, err error) error {
	if errors.Is(err, store.ErrIncomplete) {
		return fmt.Errorf("%s: %w: remove it with skink store drop --yes, and copy again", name, err)
	}
	return err
}
