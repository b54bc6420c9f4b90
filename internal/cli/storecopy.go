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
	if err := isNew(ctx, con, copyName); err != nil {
		return err
	}
	n, err := openAside(ctx, copyName)
	if err != nil {
		return err
	}
	told := time.Now()
	source := from.Reader.(store.Dumper) // every store opened by openToRead is a Dumper
	err = store.Copy(ctx, n, source, func(pages int64) {
		if isShared(copyName) {
			_, _ = n.Claim(ctx, "store copy", 0, time.Minute) // claims no host, but shows other processes that the store is in use
		}
		if time.Since(told) > tellEvery {
			told = time.Now()
			fmt.Fprintf(con.Err, "%s copied\n", report.Counted(pages, "record"))
		}
	})
	var text string
	if err == nil {
		text, err = contents(ctx, n)
	}
	if err = keepFirst(err, n.Close()); err == nil {
		err = n.take()
	}
	if err == nil {
		err = copyConfig(name, copyName)
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

// An aside is an empty store that takes the place of a store when take is called. Until then, nothing
// of it is in that place. Both must be closed before take is called.
type aside struct {
	store.Store
	take, remove func() error
}

// openAside opens the store that takes the place of the named one, which may not exist yet.
func openAside(ctx context.Context, name string) (a aside, err error) {
	if !isShared(name) {
		dir, err := badger.RewriteIn(name)
		if err != nil {
			return a, err
		}
		discard := discarder(name)
		s, err := open(dir, badger.Options{Create: true})
		remove := func() error {
			_, err := badger.RewriteIn(name)
			return errors.Join(err, discard())
		}
		return aside{s, func() error { return untilFree(ctx, func() error { return badger.TakeRewritten(name) }) }, remove}, err
	}
	at, err := addressOf(name)
	if err != nil {
		return a, err
	}
	beside := at.Beside()
	remove := func() error { return postgres.Drop(context.WithoutCancel(ctx), beside) }
	if err := remove(); err != nil && !errors.Is(err, store.ErrNotExist) {
		return a, err
	}
	s, err := postgres.Open(ctx, beside, postgres.Options{Create: true})
	return aside{s, func() error { return postgres.Replace(ctx, at, beside) }, remove}, err
}

func contents(ctx context.Context, s store.Store) (string, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return "", err
	}
	counts, err := s.Counts(ctx)
	return fmt.Sprintf("%s, %s pending", report.Counted(tally.Pages(), "page"), report.Counted(counts.Pending, "URL")), err
}

// isNew returns an error if the named store exists, or is a folder that is not empty.
func isNew(ctx context.Context, con Console, name string) error {
	if !isShared(name) {
		if err := isFolder(name); err != nil {
			return err
		}
		if _, err := badger.RewriteIn(name); err != nil { // left by a copy that was killed
			return err
		}
		switch files, err := os.ReadDir(name); {
		case err == nil && len(files) > 0:
			return usagef("%s already exists and is not empty: choose another folder, or remove the store with skink store drop --yes", name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		_, err := con.files.ClaimFolder("the copy", name, true)
		return asUsage(err)
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
	return keepFirst(s.Close(), usagef("%s already exists: choose another schema, or remove the store with skink store drop --yes", at))
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
