package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"skink/internal/cli"
	"skink/store"
	"skink/store/badger"
)

// # Terminal sessions as tests
//
// Each file in testdata/script is a terminal session: the commands that a user types, and the
// expected results. The command skink is this test binary, which runs cli.Main when it is called by
// that name. So a session runs the real program in a separate process, with its streams, signals
// and exit code. All servers are on loopback.
//
// These commands are available in addition to those of testscript:
//
//	exits CODE skink ...    runs a command that must end with this exit code
//	fails CODE skink ...    the same, with one line on standard error and no other output
//	start NAME skink ...    starts a command in the background
//	hold NAME skink ...     the same, waits until the command reads its standard input, and leaves the input open
//	signal NAME INT|HUP|KILL|TERM|USR1  sends a signal to a command
//	presses NAME            sends INT to a command until it ends
//	says NAME PATTERN       waits until standard error of a command matches
//	shows NAME PATTERN      sends USR1 to a command until its standard error matches
//	until PATTERN skink ... repeats a command until its output matches
//	metrics NAME PATH       prints a page that the command serves because of --metrics
//	opens NAME PATH         prints a page of the viewer that the command serves
//	ends NAME CODE          waits until the command ends; CODE is "killed" if a signal ended it
//	serve NAME KIND ...     starts a server; $NAME is its URL without the final slash; see kinds
//	await NAME N            waits until the server has received N requests
//	answers NAME N|all      makes the server answer only its first N requests and delay the others, or answer all
//	requests NAME FILE      writes the requests to the server, sorted, and how often each was made
//	expand FILE             replaces variables in a file by their values
//	records STORE FILE      writes a line for each record of a store: URL, kind, problem, location
//	indexed NAME            prints the URLs of the documents in an index server, sorted
//	ids FILE                prints the ids of JSON lines in their order
//	fields FILE OUT F,F...  writes fields of JSON lines, sorted
//	empty DIR               checks that a folder is empty
//	sink DIR                makes a file and a folder that are nested too deep to be opened by their paths
//	disk DIR SIZE           mounts a file system in memory, or changes its size; SIZE,ro makes it read-only
//	verdicts STORE HOW      compares a store of testdata/site with testdata/site.verdicts.tsv
//
// In written files, $NAME/ replaces the address of a server. The variable $SITE names the folder of
// testdata/site, and $DOCUMENTS the folder with documents of one text. There are four conditions.
// [long] is true if SKINK_LONG is set, and [mount] if file systems can be mounted. [unbound] is
// true if the user may ignore file permissions, and [hostname] if the name of this machine resolves
// to 127.0.0.1 only.

func TestMain(m *testing.M) {
	// Most sessions wait for servers most of the time. The flag -parallel overrides this value.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(tests{m}, map[string]func(){"skink": cli.Main})
}

// tests runs the tests of the package, and then the functions in atTheEnd.
type tests struct{ *testing.M }

var atTheEnd []func() // only buildSkink and Run use it, so it needs no lock

func (t tests) Run() int {
	// Tests use paths relative to the root folder of the module.
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	// The tests may have been started with nohup, which ignores SIGHUP. The programs in sessions must
	// not inherit that.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code := t.M.Run()
	for _, f := range atTheEnd {
		f()
	}
	return code
}

// sessions returns the files of TestScripts. Without SKINK_LONG, these are the sessions without a site or a running
// process. With the race detector, these are the sessions in which several commands run at the same time. A command alone
// runs in the test's own process in other tests, and the others of the 1,500 commands would take half of the whole run to
// start with the detector.
func sessions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no session in testdata/script: %v", err)
	}
	if os.Getenv("SKINK_LONG") != "" && !raced {
		return files
	}
	verbs := "start|hold|disk"
	if !raced {
		verbs += "|serve"
	}
	waits := regexp.MustCompile("(?m)^(" + verbs + ") ")
	return slices.DeleteFunc(files, func(name string) bool {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return waits.Match(text) != raced
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Abs("testdata/documents")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               sessions(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SITE", filepath.Join(testdata, "site"))
			env.Setenv("DOCUMENTS", documents)
			if cache, err := os.UserCacheDir(); err == nil { // the cache for the compiled PDF engine, because compiling takes seconds
				env.Setenv("XDG_CACHE_HOME", cache)
			}
			s := &session{servers: map[string]*server{}, processes: map[string]*process{}}
			env.Values[sessionKey{}] = s
			env.Defer(s.end)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":      exits,
			"fails":      fails,
			"start":      start,
			"hold":       hold,
			"signal":     signalTo,
			"presses":    presses,
			"ends":       ends,
			"says":       says,
			"shows":      shows,
			"until":      until,
			"metrics":    fetchMetrics,
			"opens":      opens,
			"serve":      serve,
			"await":      await,
			"answers":    answers,
			"requests":   requests,
			"expand":     expand,
			"records":    records,
			"fields":     fields,
			"ids":        ids,
			"indexed":    indexed,
			"object":     object,
			"put-object": putObject,
			"mended":     mended,
			"sink":       sink,
			"empty":      empty,
			"disk":       disk,
			"verdicts":   verdicts,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "long":
				return os.Getenv("SKINK_LONG") != "", nil
			case "mount":
				return mayMount(), nil
			case "hostname":
				return isOurs(), nil
			case "unbound":
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no condition is called %q", name)
		},
	})
}

// A session holds the servers and processes of one script.
type session struct {
	servers   map[string]*server
	processes map[string]*process
}

func sessionOf(ts *testscript.TestScript) *session { return ts.Value(sessionKey{}).(*session) }

// sessionKey is the key of the session among the values of testscript.
type sessionKey struct{}

// end stops all processes and servers.
func (s *session) end() {
	for _, p := range s.processes {
		_ = p.cmd.Process.Kill() // ignore an error, because the process may have ended
		<-p.ended
	}
	for _, v := range s.servers {
		v.close()
	}
}

// want stops a script with a usage message if a command was called in a wrong way.
func want(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "exits CODE COMMAND...")
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// fails checks that a command fails with a single line on standard error, and prints nothing on
// standard output.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	exits(ts, neg, args)
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("on standard output: %q", out)
	}
	if e := ts.ReadFile("stderr"); !strings.HasPrefix(e, "skink: ") || strings.Count(e, "\n") != 1 || len(e) > 500 {
		ts.Fatalf("on standard error, where one line should be: %q", e)
	}
}

// A process is a command that runs in the background.
type process struct {
	cmd      *exec.Cmd
	out, err transcript
	ended    chan struct{}
}

// A transcript collects the output of a process.
type transcript struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	return len(p), nil
}

func (t *transcript) Bytes() []byte { return []byte(t.String()) }
func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// patience is the longest time for which a session waits for an event. Usually the event comes
// soon, but a busy machine may need longer.
const patience = 5 * time.Minute

// says waits until the standard error of a process matches a regular expression. It returns the
// match with its groups.
func (p *process) says(ts *testscript.TestScript, pattern string) []string {
	re := regexp.MustCompile("(?m)" + pattern)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if found := re.FindStringSubmatch(p.err.String()); found != nil {
			return found
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("nobody says %s: %s", pattern, p.err.String())
	return nil
}

// shows repeatedly asks a crawl for its hosts until the output matches. Requests to a server are
// not sufficient to know how far the crawl has processed the responses.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "shows NAME PATTERN")
	p, re := sessionOf(ts).processes[args[0]], regexp.MustCompile("(?m)"+args[1])
	for end := time.Now().Add(patience); time.Now().Before(end); {
		ts.Check(p.cmd.Process.Signal(syscall.SIGUSR1))
		time.Sleep(200 * time.Millisecond)
		if re.MatchString(p.err.String()) {
			return
		}
	}
	ts.Fatalf("nobody shows %s: %s", args[1], p.err.String())
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "until PATTERN COMMAND...")
	re := regexp.MustCompile("(?m)" + args[0])
	for end := time.Now().Add(patience); time.Now().Before(end); {
		_ = ts.Exec(args[1], args[2:]...) // ignore an error, because the store may not exist yet
		if re.MatchString(ts.ReadFile("stdout")) {
			return
		}
		time.Sleep(100 * time.Millisecond) // the command that is waited for needs the processor
	}
	ts.Fatalf("%s never came", args[0])
}

func says(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "says NAME PATTERN")
	sessionOf(ts).processes[args[0]].says(ts, args[1])
}

// fetchMetrics prints the response of a crawl's metrics server for a path.
func fetchMetrics(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "metrics NAME PATH")
	url := sessionOf(ts).processes[args[0]].says(ts, `Metrics are served at (http://127\.0\.0\.1:\d+)/metrics`)[1]
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(url + args[1])
		ts.Check(err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		ts.Check(err)
		if strings.Contains(string(body), "The store is being read") && time.Now().Before(end) {
			continue
		}
		_, err = ts.Stdout().Write(body)
		ts.Check(err)
		return
	}
}

// opens prints a page of the viewer that a process serves.
func opens(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "opens NAME PATH")
	url := sessionOf(ts).processes[args[0]].says(ts, `shown at (http://127\.0\.0\.1:\d+)/`)[1]
	var page []byte
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(url + args[1])
		ts.Check(err)
		page, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		ts.Check(err)
		if !bytes.Contains(page, []byte("The store is being read")) || time.Now().After(end) {
			break
		}
	}
	_, err := ts.Stdout().Write(page)
	ts.Check(err)
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "start NAME COMMAND...")
	begin(ts, args, nil)
}

func begin(ts *testscript.TestScript, args []string, in *os.File) {
	p := &process{cmd: exec.Command(args[1], args[2:]...), ended: make(chan struct{})}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if in != nil {
		p.cmd.Stdin = in
	}
	ts.Check(p.cmd.Start())
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ignore the error, because ends examines the state of the process
	}()
	sessionOf(ts).processes[args[0]] = p
}

// hold writes more to a command's standard input than a pipe can buffer. When all is written, the
// command is reading.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "hold NAME COMMAND...")
	r, w, err := os.Pipe()
	ts.Check(err)
	ts.Defer(func() { w.Close() })
	begin(ts, args, r)
	r.Close()
	ts.Check(w.SetWriteDeadline(time.Now().Add(patience)))
	_, err = w.WriteString(strings.Repeat("\n", 2<<20))
	ts.Check(err)
}

func signalTo(ts *testscript.TestScript, neg bool, args []string) {
	s := map[string]os.Signal{"INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1}[args[1]]
	want(ts, !neg && len(args) == 2 && s != nil, "signal NAME INT|HUP|KILL|TERM|USR1")
	ts.Check(sessionOf(ts).processes[args[0]].cmd.Process.Signal(s))
}

// presses sends SIGINT to a process, like a user who presses Ctrl-C, until it ends.
func presses(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "presses NAME")
	p := sessionOf(ts).processes[args[0]]
	for end := time.Now().Add(patience); time.Now().Before(end); {
		_ = p.cmd.Process.Signal(syscall.SIGINT) // ignore an error, because the process may just have ended
		select {
		case <-p.ended:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func ends(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "ends NAME CODE|killed")
	p := sessionOf(ts).processes[args[0]]
	select {
	case <-p.ended:
	case <-time.After(patience):
		ts.Fatalf("%s has not ended", args[0])
	}
	_, _ = ts.Stdout().Write(p.out.Bytes())
	_, _ = ts.Stderr().Write(p.err.Bytes())
	got := strconv.Itoa(p.cmd.ProcessState.ExitCode())
	if got == "-1" {
		got = "killed"
	}
	if got != args[1] {
		ts.Fatalf("%s ended with %s, want %s: %s", args[0], got, args[1], p.err.String())
	}
}

// A server answers requests on loopback, and records them.
type server struct {
	close func()

	mu    sync.Mutex
	paths []string // guarded by mu: paths of the requests, with queries

	most     int           // guarded by mu: number of requests to answer; 0 means all
	released chan struct{} // guarded by mu: closed when most changes
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths)
}

// kinds maps the second argument of the command serve to a function that starts a server. The
// function gets the third argument, and returns the address of the server.
var kinds = map[string]func(s *server, arg string) (address string){
	"files":    serveFiles,    // serves the files of a folder
	"pages":    servePages,    // N/MS[/BALLAST[/MOST]]: serves N pages, each after MS milliseconds and with BALLAST more words; requests after the first MOST wait
	"site":     serveSite,     // serves testdata/site, and the responses in testdata/redirects.tsv
	"table":    serveTable,    // serves the responses in a file: path, status, and a body, or for 3xx a location. 429 is sent with a Retry-After of two minutes; * matches any other path. The file is read at each request
	"raw":      serveRaw,      // sends the bytes in a file: each line has a path, and a response in quotes, as in Go, without its protocol
	"nonsense": serveNonsense, // sends bytes that are not HTTP
	"nobody":   serveNobody,   // an address at which no server listens
	"bucket":   serveBucket,   // an S3 server; it refuses parts of objects from the number in the argument on
	"index":    serveIndex,    // an index server; the argument is the expected Authorization header
}

func serve(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && (len(args) == 2 || len(args) == 3) && kinds[args[1]] != nil, "serve NAME KIND [ARG]")
	arg := ""
	if len(args) == 3 {
		arg = args[2]
		if args[1] == "files" || args[1] == "table" || args[1] == "raw" {
			arg = ts.MkAbs(arg)
		}
	}
	s := &server{}
	address := kinds[args[1]](s, arg)
	sessionOf(ts).servers[args[0]] = s
	ts.Setenv(args[0], "http://"+address)
	ts.Setenv(args[0]+"_HTTPS", "https://"+address) // the wrong scheme
}

// listen starts an HTTP server.
func (s *server) listen(h http.HandlerFunc) (address string) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.paths = append(s.paths, r.URL.RequestURI())
		n := len(s.paths)
		s.mu.Unlock()
		body, _ := io.ReadAll(r.Body) // the server notices that a client has gone only after the body was read
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.wait(r.Context(), n)
		h(w, r)
	}))
	s.close = func() {
		web.CloseClientConnections()
		web.Close()
	}
	return web.Listener.Addr().String()
}

// hold makes the server answer only the first most requests, including robots.txt. Later requests
// wait. 0 means no limit.
func (s *server) hold(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released != nil {
		close(s.released)
	}
	s.most, s.released = most, make(chan struct{})
}

// wait returns when the nth request may be answered, or when its client has gone.
func (s *server) wait(ctx context.Context, n int) {
	for ctx.Err() == nil {
		s.mu.Lock()
		held, released := s.most > 0 && n > s.most, s.released
		s.mu.Unlock()
		if !held {
			return
		}
		select {
		case <-released:
		case <-ctx.Done():
		}
	}
}

func answers(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "answers NAME N|all")
	most := 0
	if args[1] != "all" {
		var err error
		most, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	sessionOf(ts).servers[args[0]].hold(most)
}

func serveFiles(s *server, dir string) string {
	return s.listen(http.FileServer(http.Dir(dir)).ServeHTTP)
}

func servePages(s *server, arg string) string {
	var count, wait, ballast, most int
	if n, _ := fmt.Sscanf(arg, "%d/%d/%d/%d", &count, &wait, &ballast, &most); n < 2 {
		panic("pages wants N/MS[/BALLAST[/MOST]]: " + arg)
	}
	s.hold(most)
	return s.listen(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		select {
		case <-time.After(time.Duration(wait) * time.Millisecond):
		case <-r.Context().Done():
		}
		fmt.Fprintf(w, "<title>%s</title><main><p>", r.URL.Path)
		page, _ := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/"), 10, 64)
		random := rand.New(rand.NewPCG(page, 1)) // all pages differ, and none compresses well
		for range 100 + ballast {
			fmt.Fprintf(w, "%x ", random.Uint64())
		}
		fmt.Fprint(w, "</main>")
		for i := 1; i < count && r.URL.Path == "/"; i++ {
			fmt.Fprintf(w, `<a href="/%d">%d</a> `, i, i)
		}
	})
}

// serveSite serves http://site.localhost/ at a loopback address, so it changes the Locations in the
// table to that address.
func serveSite(s *server, _ string) (address string) {
	files := http.FileServer(http.Dir("testdata/site"))
	table := map[string][]string{}
	for _, row := range rows("testdata/redirects.tsv") {
		table[row[0]] = row
	}
	address = s.listen(func(w http.ResponseWriter, r *http.Request) {
		row := table[r.URL.Path]
		if row == nil {
			files.ServeHTTP(w, r)
			return
		}
		status, _ := strconv.Atoi(row[1])
		if to := row[2]; to != "-" {
			w.Header().Set("Location", strings.ReplaceAll(to, "//site.localhost/", "//"+r.Host+"/"))
		}
		w.WriteHeader(status)
	})
	return address
}

func serveTable(s *server, name string) string {
	return s.listen(func(w http.ResponseWriter, r *http.Request) {
		status, rest := tabled(name, r.URL.Path)
		switch {
		case status == 0:
			http.NotFound(w, r)
			return
		case status/100 == 3:
			w.Header().Set("Location", rest)
		case status == http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "120")
		}
		w.WriteHeader(status)
		if status/100 != 3 {
			fmt.Fprintln(w, strings.ReplaceAll(rest, `\n`, "\n"))
		}
	})
}

// tabled returns the response for a path in a table of responses.
func tabled(name, path string) (status int, rest string) {
	text, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		of, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		if of == path || of == "*" && status == 0 {
			code, body, _ := strings.Cut(answer, " ")
			status, _ = strconv.Atoi(code)
			rest = body
			if of == path {
				break
			}
		}
	}
	return status, rest
}

func serveRaw(s *server, name string) string {
	return s.listen(func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(text)) {
			path, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
			response, err := strconv.Unquote(quoted)
			if path != r.URL.RequestURI() || err != nil {
				continue
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			status, rest, _ := strings.Cut(response, "\r\n")
			fmt.Fprintf(conn, "HTTP/1.1 %s\r\nConnection: close\r\n%s", status, rest)
			return
		}
		http.NotFound(w, r)
	})
}

func serveNonsense(s *server, _ string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s.close = func() { l.Close() }
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("\x00\x01SSH-2.0-not a web server\r\n\xff\xfe\x1b[2J\r\n\r\n"))
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// closedPort returns a loopback address at which no server listens. The port stays reserved until
// release is called, so no other program can use it.
func closedPort() (addr string, release func()) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		panic(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port), func() { syscall.Close(fd) }
}

func serveNobody(s *server, _ string) string {
	addr, release := closedPort()
	s.close = release
	return addr
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "await NAME N")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	s := sessionOf(ts).servers[args[0]]
	for end := time.Now().Add(patience); len(s.asked()) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s was asked %d times, not %d", args[0], len(s.asked()), n)
		}
	}
}

func requests(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "requests NAME FILE")
	asked := map[string]int{}
	for _, path := range sessionOf(ts).servers[args[0]].asked() {
		asked[path]++
	}
	var lines []string
	for path, times := range asked {
		lines = append(lines, fmt.Sprintf("%s %d", path, times))
	}
	writeLines(ts, args[1], lines)
}

func expand(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "expand FILE")
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// writeLines sorts lines and writes them to a file. It replaces the addresses of servers, which
// differ in each run, by the names of the servers.
func writeLines(ts *testscript.TestScript, name string, lines []string) {
	for server := range sessionOf(ts).servers {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], ts.Getenv(server)+"/", "$"+server+"/")
		}
	}
	slices.Sort(lines)
	ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}

func records(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "records STORE FILE")
	s, err := badger.Open(ts.MkAbs(args[0]), badger.Options{})
	ts.Check(err)
	defer s.Close()
	var lines []string
	for page, err := range s.Changes(context.Background(), "", store.WantRecord) {
		ts.Check(err)
		lines = append(lines, recordLine(&page.Record))
	}
	writeLines(ts, args[1], lines)
}

func recordLine(r *store.Record) string {
	line := r.URL + " " + string(r.Kind)
	if r.Problem != "" {
		line += " (" + r.Problem + ")"
	}
	if r.Location != "" {
		line += " -> " + r.Location
	}
	return line
}

func fields(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 3, "fields FILE OUT FIELD,FIELD...")
	var lines []string
	for l := range strings.Lines(ts.ReadFile(args[0])) {
		var object map[string]any
		ts.Check(json.Unmarshal([]byte(l), &object))
		var values []string
		for f := range strings.SplitSeq(args[2], ",") {
			v, ok := object[f]
			if !ok {
				v = "-"
			}
			values = append(values, fmt.Sprint(v))
		}
		lines = append(lines, strings.Join(values, " "))
	}
	writeLines(ts, args[1], lines)
}

func empty(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "empty DIR")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %v", args[0], entries)
	}
}

// ids prints the ids of the lines of a corpus.
func ids(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "ids FILE")
	var all []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var l struct{ ID string }
		ts.Check(json.Unmarshal([]byte(line), &l))
		all = append(all, l.ID)
	}
	fmt.Fprintln(ts.Stdout(), strings.Join(all, " "))
}

func sink(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "sink DIR")
	root, err := os.OpenRoot(ts.MkAbs(args[0]))
	ts.Check(err)
	name := strings.Repeat("deep", 60)
	for range 16 {
		ts.Check(root.Mkdir(name, 0o777))
		below, err := root.OpenRoot(name)
		ts.Check(err)
		root.Close()
		root = below
	}
	defer root.Close()
	ts.Check(root.WriteFile(name+".txt", nil, 0o666)) // 4096 bytes is the longest path that can be opened
	ts.Check(root.Mkdir(name, 0o777))
}

// disk mounts a small file system for a script, or changes its size.
func disk(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "disk DIR SIZE")
	dir, options := ts.MkAbs(args[0]), "size="+args[1]
	if _, err := os.Stat(dir); err == nil {
		ts.Check(tmpfs(dir, "remount,"+options))
		return
	}
	ts.Check(os.Mkdir(dir, 0o777))
	ts.Check(tmpfs(dir, options))
	ts.Defer(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			ts.Logf("umount: %v: %s", err, out)
		}
	})
}

func tmpfs(dir, options string) error {
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// isOurs reports whether the name of this machine resolves only to 127.0.0.1.
func isOurs() bool {
	name, err := os.Hostname()
	if err != nil {
		return false
	}
	addresses, err := net.LookupHost(name)
	return err == nil && slices.Equal(addresses, []string{"127.0.0.1"})
}

// mayMount reports whether file systems can be mounted. It tries to mount one, because root in a
// container may not be allowed to.
func mayMount() bool {
	dir, err := os.MkdirTemp("", "skink-mount-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return tmpfs(dir, "size=1m") == nil && exec.Command("umount", dir).Run() == nil
}

// rows returns the rows of a table in testdata, without the heading.
func rows(name string) [][]string {
	b, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	var all [][]string
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if i > 0 {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

const siteHost = "http://site.localhost"

// verdicts compares the verdicts in a store with the table. A second argument is a path that must
// not be in the store.
func verdicts(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && (len(args) == 1 || len(args) == 2), "verdicts STORE [WITHOUT]")
	table := map[string]judged{}
	for _, row := range rows("testdata/site.verdicts.tsv") {
		if len(args) == 2 && row[0] == args[1] {
			continue
		}
		of := strings.TrimPrefix(row[2], "-")
		table[row[0]] = judged{row[1], of}
	}
	store := map[string]judged{}
	for l := range strings.Lines(output(ts, "export", "--store", args[0], "--include", "all")) {
		var page struct{ URL, Verdict, Duplicate_of string }
		ts.Check(json.Unmarshal([]byte(l), &page))
		store[strings.TrimPrefix(page.URL, siteHost)] = judged{page.Verdict, strings.TrimPrefix(page.Duplicate_of, siteHost)}
	}
	counts := countKinds(table)
	var report struct{ Other, Errors, Blocked int }
	ts.Check(json.Unmarshal([]byte(output(ts, "report", "--store", args[0], "--format", "json")), &report))
	if report.Other != counts["other"] || report.Errors != counts["error"] || report.Blocked != counts["blocked"] {
		ts.Fatalf("the report counts %+v, the table has %v", report, counts)
	}
	wrong := 0
	for _, path := range slices.Sorted(maps.Keys(table)) {
		if got := store[path]; got != table[path] && !notText(table[path].verdict) {
			ts.Logf("%s is %v, and %v in the table", path, got, table[path])
			wrong++
		}
		delete(store, path)
	}
	if wrong+len(store) > 0 {
		ts.Fatalf("%d verdicts are wrong; in the store and not in the table: %v", wrong, store)
	}
}

// output returns the standard output of skink. Unlike the command exec, it does not log the output.
func output(ts *testscript.TestScript, args ...string) string {
	cmd := exec.Command("skink", args...)
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.Output()
	ts.Check(err)
	return string(out)
}

// judged is the verdict on a page, and the leader that the page duplicates.
type judged struct{ verdict, of string }

func notText(verdict string) bool {
	return verdict == "other" || verdict == "error" || verdict == "blocked"
}

func countKinds(table map[string]judged) map[string]int {
	n := map[string]int{}
	for _, j := range table {
		n[j.verdict]++
	}
	return n
}
