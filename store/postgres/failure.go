package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"skink/store"
)

// # When the server fails
//
// Every call is retried as long as that may help: if the connection was lost, the server is
// restarting or failing over, it has no free connection, or it aborted the transaction because of a
// conflict. A call may have taken effect even though its response was lost, so calls are designed
// to have no further effect when repeated. If there is no response within patience, the call fails
// with [store.ErrAway], and later calls are tried only once each until one succeeds. If the schema
// was dropped or replaced, calls fail at once.

// patience is how long a failing call is retried, unless [Store.Watch] changes it. It equals the
// duration of a claim on a host, because other workers take over the hosts once the claims expire.
var patience = 30 * time.Second

// silentAfter is how long no call gets a response before a server counts as silent. It is longer than most
// calls take.
const silentAfter = 2 * time.Second

// Watch sets how long failing calls are retried, and the function that tells the user when the server
// becomes silent, and when it responds again.
func (s *Store) Watch(patience time.Duration, say func(format string, args ...any)) {
	s.patience.Store(int64(patience))
	s.say.Store(&say)
}

// Silent reports whether the server does not respond.
func (s *Store) Silent() bool { return s.silent.Load() }

func (s *Store) tell(silent bool) {
	switch was, say := s.silent.Swap(silent), s.say.Load(); {
	case was == silent, say == nil:
	case silent:
		(*say)("%s does not respond: trying again for up to %v", s.address, time.Duration(s.patience.Load()))
	default:
		(*say)("%s responds again", s.address)
	}
}

// attempt returns the timeout for one attempt at a call. It is needed for servers that accept a
// connection but never respond.
func attempt() time.Duration { return statementTimeout + 5*time.Second }

var (
	// errGone means that the tables are not the ones that this process opened.
	errGone = errors.New("the schema was dropped, emptied or replaced while this process was using it, so pages fetched since then cannot be stored")
	// errForgot means that commits acknowledged by the server are missing.
	errForgot = errors.New("the server lost commits: it was replaced by an asynchronous standby, or restored from a backup; run the same command again to fetch the lost pages")
)

// openPatience is how long Open waits for a server. It is long enough for a failover, but short
// enough for users who mistyped the address.
const openPatience = 10 * time.Second

// try repeats do until it succeeds, fails with an error that a retry cannot fix, or the time given
// by patience has passed.
func (s *Store) try(ctx context.Context, do func(ctx context.Context) error) error {
	if s.away.Load() {
		return s.tryFor(ctx, 0, do) // another call has just waited as long as patience allows without a response
	}
	return s.tryFor(ctx, time.Duration(s.patience.Load()), do)
}

// tryFor is like try, but with its own patience. One attempt counts for at most half of it, because
// an attempt during which the process was stopped or the machine slept says nothing about the
// server.
func (s *Store) tryFor(ctx context.Context, patience time.Duration, do func(ctx context.Context) error) error {
	began := time.Now()
	defer time.AfterFunc(silentAfter, func() {
		if s.heard.Load() < began.UnixNano() {
			s.tell(true)
		}
	}).Stop()
	counted, waited := began, time.Duration(0)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if err := ctx.Err(); err != nil {
			return err
		}
		bounded, cancel := context.WithTimeout(ctx, attempt())
		err := do(bounded)
		cancel()
		if err == nil {
			s.away.Store(false)
			s.heard.Store(time.Now().UnixNano())
			s.tell(false)
			return nil
		}
		if ctx.Err() != nil || !retryable(err) {
			return s.explain(err)
		}
		waited += min(time.Since(counted), patience/2)
		counted = time.Now()
		if waited >= patience && !conflicts(err) {
			s.away.Store(true)
			return fmt.Errorf("%w: gave up after %s: %w", store.ErrAway, time.Since(began).Round(time.Second), s.explain(err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// codeOf returns the SQLSTATE code of an error, or "" if the error is not from the server.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

func conflicts(err error) bool { return codeOf(err) == "40001" || codeOf(err) == "40P01" }

// retryable reports whether a call that failed with err may succeed when repeated.
func retryable(err error) bool {
	switch code := codeOf(err); {
	case untrusted(err):
		return false
	case code == "":
		return unanswered(err)
	case conflicts(err), strings.HasPrefix(code, "08"): // class 08: connection exceptions
		return true
	case code == "57P01", code == "57P02", code == "57P03", code == "57P05": // shutdown, crash, starting up, idle session
		return true
	case code == "53300", code == "25006", code == "55P03", code == "57014", code == "25P03": // too many connections, read-only, lock, statement timeout, idle transaction
		return true
	}
	return false
}

// untrusted reports whether the server's certificate was rejected.
func untrusted(err error) bool {
	_, is := errors.AsType[*tls.CertificateVerificationError](err)
	return is
}

// unanswered reports whether err is a network error or the timeout of an attempt.
func unanswered(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "conn closed") || pgconn.SafeToRetry(err)
}

func (s *Store) explain(err error) error {
	code := codeOf(err)
	switch {
	case err == nil, errors.Is(err, store.ErrFull), errors.Is(err, context.Canceled):
		return err
	case untrusted(err):
		return fmt.Errorf("the server's certificate is not trusted: %w: specify the certificate of the issuing authority with sslrootcert=FILE", withoutAddress(err))
	case code == "28P01" || code == "28000":
		return fmt.Errorf("the server does not accept the user or the password: %w: set PGPASSWORD, or write a password file (~/.pgpass)", withoutAddress(err))
	case code == "3D000":
		return fmt.Errorf("%w: create it with: createdb NAME", withoutAddress(err))
	case code == "42P01" || code == "3F000" || code == "42703":
		return fmt.Errorf("%w: %w", errGone, err)
	case code == "42501":
		return fmt.Errorf("the user lacks a permission: %w: the owner of the schema %s can grant it", err, s.address.schema)
	case code == "53300":
		return fmt.Errorf("%w: each worker needs %d connections: raise max_connections, or start fewer workers", withoutAddress(err), connections)
	case code == "53100":
		return &fullError{err}
	case code == "57014":
		return fmt.Errorf("a statement took longer than %s: %w: check the server for locks and high load", statementTimeout, err)
	}
	return withoutAddress(err)
}

// withoutAddress returns the cause of a connection error without the message from pgx, which
// repeats the user and all addresses.
func withoutAddress(err error) error {
	connect, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return err
	}
	if e, ok := errors.AsType[*pgconn.PgError](connect); ok {
		return e
	}
	return connect
}

// A fullError means that the server's disk is full. It matches [store.ErrFull].
type fullError struct{ error }

func (e *fullError) Error() string {
	return fmt.Sprintf("the server's disk is full: %v: free some space there", e.error)
}

func (e *fullError) Is(target error) bool { return target == store.ErrFull }
func (e *fullError) Unwrap() error        { return e.error }
