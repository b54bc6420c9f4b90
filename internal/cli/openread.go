package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"skink/store"
	"skink/store/badger"
	"skink/store/redis"
	"skink/store/remote"
)

// A readStore is a store that is open for reading. If no process has the store, its files are read.
// If one has it, that process answers.
type readStore struct {
	store.Reader
	loss  badger.Loss // found in the files; a process that has the store has reported and mended what it found
	close func() error
}

// waitForAnswer is how long a reader waits for a process that has the store and does not answer:
// the process may be about to start or to end. Opening a large store takes longer; the reader does
// not wait for that.
const waitForAnswer = time.Second

// openToRead opens a store without changing it. If another process has it, that process is asked,
// and say is told of which moment its answers are. The lock of the store decides who has it; a
// process that answers holds that lock, so it is tried first.
func openToRead(ctx context.Context, dir string, say io.Writer) (*readStore, error) {
	switch {
	case dir == "":
		return nil, errNoFolder
	case redis.IsAddress(dir):
		s, _, err := openShared(ctx, dir, redis.Options{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		return &readStore{Reader: s, close: s.Close}, nil
	}
	for until := time.Now().Add(waitForAnswer); ; {
		r, askErr := remote.Open(ctx, dir)
		if askErr == nil {
			fmt.Fprintf(say, "skink: %s: %s is writing to it; this is as of %s\n", dir, r.By(), r.Moment().UTC().Format(time.RFC3339))
			return &readStore{Reader: r, close: r.Close}, nil
		}
		s, err := open(dir, badger.Options{ReadOnly: true})
		switch {
		case err == nil:
			return &readStore{s, s.Loss(), s.Close}, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, store.ErrInUse):
			return nil, err
		case time.Now().After(until) && errors.Is(askErr, remote.ErrBusy):
			return nil, fmt.Errorf("%s: %w: try again when one of them has ended", dir, askErr)
		case time.Now().After(until):
			return nil, err
		}
	}
}

// answerReaders lets other processes read a store that this one writes to. If that cannot be set
// up, the process goes on without it.
func answerReaders(s *badger.Store, dir, command string, say func(error)) (stop func() error) {
	server, err := remote.Serve(dir, command, func() (remote.Snapshot, error) { return s.Snapshot() })
	if err != nil {
		say(fmt.Errorf("%w: until this ends, nobody else can read %s", err, dir))
		return func() error { return nil }
	}
	return server.Close
}
