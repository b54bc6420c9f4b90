package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/frontier"
	"skink/internal/output"
	"skink/internal/session"
	"skink/store"
	"skink/store/badger"
	"skink/store/disk"
	"skink/store/postgres"
	"skink/store/remote"
)

// # Names of stores
//
// The address of a store on a server may contain a password. The name of a store does not: nameOf
// takes the password out where a name enters, in a flag or an argument, and addressOf puts it back
// where a connection is made. So whatever prints or keeps a name cannot print or keep a password.

var addresses sync.Map // addresses of stores on servers, by the names of the stores

func nameOf(text string) string {
	at, err := postgres.ParseAddress(text)
	switch {
	case err == nil:
		addresses.Store(at.String(), text)
		return at.String()
	case frontier.HasScheme(text):
		return harmless.WithoutUser(text)
	}
	return text
}

func fullAddress(name string) string {
	if full, known := addresses.Load(name); known {
		return full.(string)
	}
	return name
}

func addressOf(name string) (postgres.Address, error) {
	at, err := postgres.ParseAddress(fullAddress(name))
	return at, asUsage(err)
}

// A storeName is the value of a flag that names a store.
type storeName struct{ to *string }

func (s storeName) String() string { return *s.to }
func (s storeName) Type() string   { return "string" }
func (s storeName) Set(text string) error {
	*s.to = nameOf(text)
	return nil
}

// defaultStore returns the store of commands that name none.
func defaultStore() string { return nameOf(cmp.Or(os.Getenv("SKINK_STORE"), session.DefaultStore)) }

func addStoreFlag(flags *pflag.FlagSet) *string {
	name := defaultStore()
	flags.Var(storeName{&name}, "store", "`STORE` use the store in this folder, or in the PostgreSQL schema postgres://USER@HOST/DATABASE?schema=NAME")
	return &name
}

type writeStore struct {
	session.NamedStore
	folder *badger.Store // the store, if it is in a folder; nil if it is on a database server
}

// openStore opens a store for writing. If create is true, it creates a missing store. For a store
// in a folder, files is the maximum number of other files that the process will have open. The
// store is not opened if the system's limit on open files is too low for both. The errors tell the
// user what to try.
func openStore(ctx context.Context, name string, create bool, files int) (s *writeStore, err error) {
	if postgres.IsAddress(name) {
		p, at, openErr := openPostgres(ctx, name, postgres.Options{Create: create})
		s, err = &writeStore{NamedStore: session.NamedStore{Store: p, Name: at.String(), Shared: true, Silent: p.Silent}}, openErr
	} else {
		err = untilFree(ctx, func() (err error) { // skink control opens the store for a moment, and skink view closes it
			s, err = openFolder(name, badger.Options{Create: create, Files: files})
			return err
		})
	}
	return s, err
}

func openFolder(name string, opt badger.Options) (*writeStore, error) {
	s, err := open(name, opt)
	if err != nil {
		return nil, err
	}
	size := func() (size, free int64) { return disk.Use(name), s.Free() }
	return &writeStore{session.NamedStore{Store: s, Name: name, Disk: size}, s}, nil
}

// isShared reports whether name is the address of a store on a PostgreSQL server, which several
// workers can use at the same time.
func isShared(name string) bool { return postgres.IsAddress(name) }

func openPostgres(ctx context.Context, name string, opt postgres.Options) (*postgres.Store, postgres.Address, error) {
	at, err := addressOf(name)
	if err != nil {
		return nil, at, fmt.Errorf("--store: %w", err)
	}
	s, err := postgres.Open(ctx, at, opt)
	if err != nil {
		return nil, at, openError(at.String(), err, opt.ReadOnly)
	}
	return s, at, nil
}

func (s *writeStore) loss() badger.Loss {
	if s.folder == nil {
		return badger.Loss{}
	}
	return s.folder.Loss()
}

// answer starts a server through which other processes can read the store while this process writes
// to it. It does nothing for a store on a database server. If the server cannot be started, answer
// passes the error to onError, and the process continues without it.
func (s *writeStore) answer(command string, onError func(error)) (stop func() error) {
	if s.folder == nil {
		return func() error { return nil }
	}
	server, err := remote.Serve(s.Name, command, func() (remote.Snapshot, error) { return s.folder.Snapshot() }, s.SwapMeta)
	if err != nil {
		onError(fmt.Errorf("%w: other commands cannot read %s until this one ends", err, s.Name))
		return func() error { return nil }
	}
	return server.Close
}

var errNoFolder = usagef("--store is empty: specify a folder")

func open(dir string, opt badger.Options) (*badger.Store, error) {
	if err := isFolder(dir); err != nil {
		return nil, err
	}
	s, err := badger.Open(dir, opt)
	if err != nil {
		return nil, openError(dir, err, opt.ReadOnly)
	}
	return s, nil
}

// isFolder returns an error if name, the value of --store, is empty or a URL.
func isFolder(name string) error {
	switch {
	case name == "":
		return errNoFolder
	case frontier.HasScheme(name):
		return usagef("--store %s is a URL: specify a folder or postgres://USER@HOST/DATABASE; pass URLs to crawl as arguments, not with --store", brief(name))
	}
	return nil
}

// outsideFolders returns an error if the named store would be inside one of the crawled folders,
// because the crawl would then read the files of its own store.
func outsideFolders(name string, folders []string) error {
	if isShared(name) || name == "" || frontier.HasScheme(name) {
		return nil
	}
	at := output.Landing(name)
	for _, dir := range folders {
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			dir = to
		}
		if below, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(below) {
			return usagef("the store %s is inside the folder to be crawled, %s: use --store to specify a folder outside it", name, dir)
		}
	}
	return nil
}

// discarder returns a function that removes a store which the command creates in dir afterwards. It removes nothing
// that exists now.
func discarder(dir string) (discard func() error) {
	if isShared(dir) || badger.IsStore(dir) { // other workers may be using a store on a server by the time it would be removed
		return func() error { return nil }
	}
	_, before := os.Stat(dir)
	return func() error {
		files, err := os.ReadDir(dir)
		for _, f := range files {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, f.Name())))
		}
		if errors.Is(before, fs.ErrNotExist) {
			err = errors.Join(err, os.Remove(dir))
		}
		return err
	}
}

func openError(dir string, err error, toRead bool) error {
	switch {
	case errors.Is(err, store.ErrNotExist):
		return fmt.Errorf("%s: %w: create one with skink crawl or skink dedup, or specify another with --store", dir, store.ErrNotExist)
	case errors.Is(err, store.ErrInUse):
		return fmt.Errorf("%s: %w: wait until that process ends, or choose another --store", dir, inUse(dir))
	case errors.As(err, new(badger.DamageError)) && !toRead:
		return fmt.Errorf("%w: copy what is readable with skink store copy %s NEW, and continue with --store NEW", err, dir)
	case errors.Is(err, store.ErrCorrupt):
		return fmt.Errorf("%w: choose another --store, or restore a backup", err)
	case errors.Is(err, fs.ErrPermission) && toRead:
		return fmt.Errorf("%w: you need permission to read the folder and its files", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: get write permission for the folder and its files, or crawl into a copy", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: the folder is read-only; crawl into a copy of it", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: free some disk space, and run the command again", err)
	}
	return err
}

// inUse returns [store.ErrInUse] with the process that has the store in dir open, if it says so.
func inUse(dir string) error {
	if by := remote.Holder(dir); by != "" {
		return fmt.Errorf("%w, %s", store.ErrInUse, harmless.Line(by))
	}
	return store.ErrInUse
}

func warn(to io.Writer, l badger.Loss) {
	if text := lossText(l); text != "" {
		fmt.Fprintf(to, "skink: %s\n", text)
	}
}

// A readStore is a store that is open for reading. If another process has the store open, reads go
// through that process; otherwise they go to the store's files.
type readStore struct {
	store.Reader
	loss  badger.Loss // damage found in the files; empty if another process has the store open, because that process has already reported it
	close func() error
}

// waitForAnswer is how long untilFree and openToRead keep trying to open a store that another process has locked
// but does not serve, because that process is just starting or ending. It is too short for a
// process that is opening a large store.
const waitForAnswer = time.Second

// untilFree repeats do for up to waitForAnswer while another process has locked the store. Such a process
// may be starting or ending, or holds the store only for a moment.
func untilFree(ctx context.Context, do func() error) error {
	for until := time.Now().Add(waitForAnswer); ; time.Sleep(10 * time.Millisecond) {
		if err := do(); !errors.Is(err, store.ErrInUse) || time.Now().After(until) {
			return err
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// openToRead opens a store for reading. If another process is writing to the store, the reader gets
// a snapshot from that process, and openToRead prints the time of the snapshot to messages. It
// tries this first, because such a process has locked the store's files.
func openToRead(ctx context.Context, dir string, messages io.Writer) (s *readStore, err error) {
	if isShared(dir) {
		s, _, err := openPostgres(ctx, dir, postgres.Options{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		return &readStore{Reader: s, close: s.Close}, nil
	}
	if err := isFolder(dir); err != nil {
		return nil, err
	}
	var asked error
	err = untilFree(ctx, func() error {
		var r *remote.Reader
		if r, asked = remote.Open(ctx, dir); asked == nil {
			fmt.Fprintf(messages, "skink: %s: in use by %s; showing the state as of %s\n", dir, r.By(), r.Moment().UTC().Format(time.RFC3339))
			s = &readStore{Reader: r, close: r.Close}
			return nil
		}
		files, err := open(dir, badger.Options{ReadOnly: true})
		if err == nil {
			s = &readStore{files, files.Loss(), files.Close}
		}
		return err
	})
	if errors.Is(err, store.ErrInUse) && errors.Is(asked, remote.ErrBusy) {
		err = fmt.Errorf("%s: %w: try again later", dir, asked)
	}
	return s, err
}

// keepFirst returns first, or second if first is nil. It is used when closing after an error,
// because the error from closing is often only a consequence of the first one.
func keepFirst(first, second error) error { return cmp.Or(first, second) }
