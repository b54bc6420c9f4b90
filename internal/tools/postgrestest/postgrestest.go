// Package postgrestest starts PostgreSQL servers for tests: on loopback, with their files in a
// temporary folder. They stop when the test ends.
//
//	server := postgrestest.Start(t)
//	s, err := postgres.Open(ctx, server.URL("crawl"), postgres.Options{Create: true})
package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// User and Database exist on every server. User needs no password.
const (
	User     = "skink"
	Database = "skink"
)

// A Server is a PostgreSQL server with its own files.
type Server struct {
	Addr string // HOST:PORT
	Dir  string

	programs string // folder that contains initdb, postgres and pg_basebackup
	settings []string
	cmd      *exec.Cmd
	ended    chan struct{}
}

// Start starts a new server. Settings such as "max_connections=5" are added to its configuration.
// The test is skipped on a machine without PostgreSQL. The server does not call fsync unless
// "fsync=on" is given: its files survive the end of the process, but not a crash of the machine.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	s, err := startNew(tb, settings)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func startNew(tb testing.TB, settings []string) (*Server, error) {
	s, err := prepare(tb, settings)
	if err != nil {
		return nil, err
	}
	return s, s.create()
}

// create makes the files of the server and starts it. initdb and CREATE DATABASE take seconds of processor time, and
// copying the files a tenth of that. So the files of one version are made once, in the folder for temporary files,
// where they stay.
func (s *Server) create() error {
	template := filepath.Join(os.TempDir(), fmt.Sprintf("skink-postgres-%s-%d", filepath.Base(filepath.Dir(s.programs)), os.Getuid()))
	if _, err := os.Stat(template); err != nil {
		if err := s.createFirst(); err != nil {
			return err
		}
		made := filepath.Dir(s.Dir) + ".made"
		if out, err := exec.Command("cp", "-a", s.Dir, made).CombinedOutput(); err != nil {
			return fmt.Errorf("copy %s: %w: %s", s.Dir, err, out)
		}
		if err := os.Rename(made, template); err != nil {
			os.RemoveAll(made) // another process was faster
		}
	} else if out, err := exec.Command("cp", "-a", template, s.Dir).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", template, err, out)
	}
	return s.Run()
}

// createFirst makes the files with initdb, and the database with a server that has no settings of a test.
func (s *Server) createFirst() error {
	if err := s.initdb(); err != nil {
		return err
	}
	first := Server{Addr: s.Addr, Dir: s.Dir, programs: s.programs}
	defer first.Kill()
	if err := first.Run(); err != nil {
		return err
	}
	if err := first.exec("CREATE DATABASE " + Database); err != nil {
		return err
	}
	first.Stop()
	return nil
}

func (s *Server) initdb() error {
	if out, err := s.run("initdb", "--no-sync", "--username="+User, "--auth=trust", "--encoding=UTF8", "--locale=C", "--pgdata="+s.Dir); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	hba := "local all all trust\nhost all all all trust\nhost replication all all trust\n"
	return os.WriteFile(filepath.Join(s.Dir, "pg_hba.conf"), []byte(hba), 0o600)
}

func prepare(tb testing.TB, settings []string) (*Server, error) {
	programs := programs()
	if programs == "" {
		tb.Skip("no initdb: install Debian's package postgresql to run this test")
	}
	dir, err := os.MkdirTemp("", "skink-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: filepath.Join(dir, "data"), programs: programs, settings: slices.Clone(settings)}
	tb.Cleanup(func() {
		s.Kill()
		os.RemoveAll(dir)
	})
	if err := give(dir); err != nil {
		tb.Skipf("PostgreSQL refuses to run as root, and %v", err)
	}
	s.Addr, err = freeAddress()
	return s, err
}

// freeAddress returns an unused loopback address. On Linux all of 127.0.0.0/8 is loopback, so each
// server gets its own address. Connections of other tests come from 127.0.0.1 and cannot take its
// port.
func freeAddress() (string, error) {
	own := fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	l, err := net.Listen("tcp", own)
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// programs returns the folder of the newest installed server, or "" if there is none. Debian keeps
// the programs of each version in a separate folder outside PATH.
func programs() string {
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if found, err := exec.LookPath("initdb"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil {
			all = append(all, found)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(all))
}

// command returns a command that runs one of the server's programs. If the tests run as root, the
// program runs as another user, because PostgreSQL refuses root.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, program), args...)
	cmd.Dir = filepath.Dir(s.Dir)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	unprivileged(cmd)
	return cmd
}

func (s *Server) run(program string, args ...string) ([]byte, error) {
	return s.command(program, args...).CombinedOutput()
}

// Run starts a server that was stopped or killed, at the same address, and waits until it responds.
func (s *Server) Run() error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	args := []string{"-D", s.Dir, "-h", host, "-p", port, "-k", ""}
	for _, set := range slices.Concat([]string{"fsync=off", "max_connections=60", "shared_buffers=64MB", "log_line_prefix=", "hot_standby=on"}, s.settings) {
		args = append(args, "-c", set)
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd, s.ended = s.command("postgres", args...), make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := start(s.cmd, s.ended); err != nil {
		return err
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := s.exec("SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server ended: %s", s.Log())
		default:
		}
		if time.Now().After(until) {
			return fmt.Errorf("the server does not answer: %w: %s", err, s.Log())
		}
	}
}

func (s *Server) log() string { return filepath.Join(filepath.Dir(s.Dir), "log") }

// Log returns the server's log.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b))
}

// Kill kills the server without warning, and returns when it has ended.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	select {
	case <-s.ended:
	default:
		s.killAll()
		<-s.ended
	}
}

// Stop shuts the server down cleanly, and closes its connections.
func (s *Server) Stop() {
	s.cmd.Process.Signal(os.Interrupt)
	<-s.ended
}

// Restart kills the server and starts it again.
func (s *Server) Restart() error {
	s.Kill()
	return s.runAgain()
}

func (s *Server) runAgain() error {
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := s.Run()
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}

// URL returns the address of the store in the given schema on the server.
func (s *Server) URL(schema string) string { return URL(schema, s.Addr) }

// URL returns the address of a store on several servers, such as a primary and its standby.
func URL(schema string, addrs ...string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?schema=%s", User, strings.Join(addrs, ","), Database, url.QueryEscape(schema))
}

// RequirePassword makes the server require a password from all users except [User].
func (s *Server) RequirePassword() error {
	hba := "host all " + User + " all trust\nhost all all all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(s.Dir, "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		return err
	}
	return s.exec("SELECT pg_reload_conf()")
}

func (s *Server) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return s.in(ctx, "postgres", sql)
}

// Exec runs SQL in the database that contains the stores. If the SQL is aborted because of a
// deadlock with a store, Exec retries it, up to 20 attempts in all.
func (s *Server) Exec(ctx context.Context, sql string) (err error) {
	for range 20 {
		err = s.in(ctx, Database, sql)
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "40P01" {
			return err
		}
	}
	return err
}

func (s *Server) in(ctx context.Context, database, sql string) error {
	conn, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// Connect opens a connection to the database that contains the stores. The caller must close it.
func (s *Server) Connect(ctx context.Context) (*pgx.Conn, error) { return s.connect(ctx, Database) }

func (s *Server) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf("postgres://%s@%s/%s", User, s.Addr, database))
}

// Text runs a query in the database that contains the stores, and returns the first value of the
// result, which must be text.
func (s *Server) Text(ctx context.Context, sql string) (text string, err error) {
	conn, err := s.Connect(ctx)
	if err != nil {
		return "", err
	}
	err = conn.QueryRow(ctx, sql).Scan(&text)
	return text, errors.Join(err, conn.Close(ctx))
}

// Own changes the owner of a folder to the account that the server runs as.
func (s *Server) Own(dir string) error { return give(dir) }

// Pid returns the id of the server's main process. The server has a child process for each
// connection.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// StartStandby starts a second server that follows s. A synchronous standby receives every commit
// before the client gets the response.
func (s *Server) StartStandby(tb testing.TB, synchronous bool) *Server {
	tb.Helper()
	standby, err := prepare(tb, s.settings)
	if err != nil {
		tb.Fatal(err)
	}
	if err := standby.Follow(s, synchronous); err != nil {
		tb.Fatal(err)
	}
	return standby
}

// Follow turns s, which must not be running, into a standby of primary with a copy of primary's
// files.
func (s *Server) Follow(primary *Server, synchronous bool) error {
	if err := os.RemoveAll(s.Dir); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(primary.Addr)
	if err != nil {
		return err
	}
	if out, err := s.run("pg_basebackup", "--no-sync", "--checkpoint=fast", "--write-recovery-conf", "--host="+host, "--port="+port, "--username="+User, "--pgdata="+s.Dir); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	if err := s.Run(); err != nil || !synchronous {
		return err
	}
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := primary.exec(sql); err != nil {
			return err
		}
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := primary.exec("SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
		if err == nil {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("the standby does not become synchronous: %w: %s", err, s.Log())
		}
	}
}

// Promote turns a standby into a primary that waits for no standby.
func (s *Server) Promote() error {
	for _, sql := range []string{"SELECT pg_promote()", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
		if err := s.exec(sql); err != nil {
			return err
		}
	}
	return nil
}
