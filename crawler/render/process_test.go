//go:build linux

package render

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// loops is a page whose script never ends.
const loops = "<p>shown<script>for (;;);</script>"

func refuseAll(context.Context, Request) (Answer, error) { return Answer{}, errors.New("refused") }

// A born identifies a process by its id and the time of its start.
type born struct{ pid, start string }

// family returns a process and all its descendants, in any process group.
func family(leader int) (all []born) {
	children := map[string][]born{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if pid, fields := statOf(file); len(fields) > 19 {
			b := born{pid, fields[19]}
			children[fields[1]] = append(children[fields[1]], b)
			if pid == strconv.Itoa(leader) {
				all = append(all, b)
			}
		}
	}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].pid]...)
	}
	return all
}

// statOf returns the id of a process, and the fields of its stat file in /proc after the process's
// name.
func statOf(file string) (pid string, fields []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", nil
	}
	return filepath.Base(filepath.Dir(file)), strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// runs reports whether a process is still running.
func (b born) runs() bool {
	_, fields := statOf("/proc/" + b.pid + "/stat")
	return len(fields) > 19 && fields[19] == b.start && fields[0] != "Z" // a zombie has ended, but its parent has not waited for it
}

// ends waits until all the processes have ended.
func ends(t *testing.T, all []born) {
	t.Helper()
	if len(all) < 4 {
		t.Errorf("only %d processes of the browser were found", len(all))
	}
	for deadline := time.Now().Add(20 * time.Second); slices.ContainsFunc(all, born.runs); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, b := range all {
				line, _ := os.ReadFile("/proc/" + b.pid + "/cmdline")
				t.Errorf("%s still runs: %.200q", b.pid, line)
			}
			return
		}
	}
}

// A closed browser leaves no process, folder or goroutine behind, whatever its pages do, and
// however long the name of the folder for temporary files is.
func TestClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	b := newBrowser(t, Options{})
	var drawn sync.WaitGroup
	for range 2 {
		drawn.Go(func() {
			if d, err := b.Draw(t.Context(), page(loops), refuseAll); err == nil {
				t.Errorf("drew %s", d.HTML)
			}
		})
	}
	p := started(t, b)
	all := family(p.cmd.Process.Pid)
	b.Close()
	drawn.Wait()
	ends(t, all)
	if left := temporary(t); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// temporary returns the names of everything in the folder for temporary files.
func temporary(t *testing.T) (names []string) {
	t.Helper()
	all, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// started waits until a browser renders pages, and returns its process.
func started(t *testing.T, b *Browser) *process {
	t.Helper()
	for range 1000 {
		time.Sleep(20 * time.Millisecond)
		b.mu.Lock()
		in := b.now
		b.mu.Unlock()
		if in != nil && len(group(in.process.cmd.Process.Pid)) > 4 {
			return in.process
		}
	}
	t.Fatal("no browser was started")
	return nil
}

// If the browser is killed, another browser renders its pages.
func TestBrowserKilled(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBrowser(t, Options{})
	var killed sync.Once
	var all []born
	fetch := func(context.Context, Request) (Answer, error) {
		killed.Do(func() {
			p := started(t, b)
			all = family(p.cmd.Process.Pid)
			if err := p.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		return Answer{Status: 200, Header: map[string][]string{"Content-Type": {"text/javascript"}}, Body: []byte("document.body.append('drawn')")}, nil
	}
	d, err := b.Draw(t.Context(), page("<body><script src=/a.js></script>"), fetch)
	if err != nil || !strings.Contains(string(d.HTML), "drawn") {
		t.Fatalf("%+v, %v", d, err)
	}
	ends(t, all)
	if left := temporary(t); len(left) != 1 {
		t.Errorf("the folders are %q, want that of the second browser", left)
	}
}

// TestReplaced checks that a browser is replaced, and leaves no process behind, when it uses more
// memory than its bound, and when it has rendered maxDrawn pages.
func TestReplaced(t *testing.T) {
	for name, spoil := range map[string]func(*Browser){
		"memory": func(b *Browser) { b.opt.Tabs = -1 }, // the bound is 0 bytes
		"pages":  func(b *Browser) { b.now.drawn = maxDrawn },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, Options{Memory: 1 << 30})
			if _, err := b.Draw(t.Context(), page("<p>x"), refuseAll); err != nil {
				t.Fatal(err)
			}
			before := b.now.process
			all := family(before.cmd.Process.Pid)
			if d, err := b.Draw(t.Context(), page("<p>x"), refuseAll); err != nil || d.Cut || b.now.process != before {
				t.Fatalf("a second page got another browser: %v", err)
			}
			b.mu.Lock()
			spoil(b)
			b.mu.Unlock()
			d, err := b.Draw(t.Context(), page("<body><script>document.body.append('drawn ' + 'again')</script>"), refuseAll)
			if err != nil || !strings.Contains(string(d.HTML), "drawn again") {
				t.Fatalf("%+v, %v", d, err)
			}
			if b.now.process == before {
				t.Error("the browser was not replaced")
			}
			ends(t, all)
		})
	}
}

// The memory limit applies to each process of a browser.
func TestLimits(t *testing.T) {
	b := newBrowser(t, Options{Memory: 1 << 30})
	if _, err := b.Draw(t.Context(), page("<p>x"), refuseAll); err != nil {
		t.Fatal(err)
	}
	limited := 0
	for _, m := range group(b.now.process.cmd.Process.Pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", m.pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); strings.HasPrefix(line, "Max data size") {
				if limited++; fields[3] != "1073741824" {
					t.Errorf("process %d: %s", m.pid, line)
				}
			}
		}
	}
	if limited < 4 {
		t.Errorf("%d processes", limited)
	}
}

// drawsForever is an environment variable. If it is set, this process is the child of TestKilled.
const drawsForever = "SKINK_TEST_DRAWS_FOREVER"

func TestMain(m *testing.M) {
	if os.Getenv(drawsForever) == "" {
		os.Exit(m.Run())
	}
	path, err := Find()
	if err != nil {
		panic(err)
	}
	b := New(Options{Path: path, Time: time.Hour, Most: time.Hour})
	go func() {
		_, err := b.Draw(context.Background(), page(loops), refuseAll)
		panic(err)
	}()
	for {
		time.Sleep(20 * time.Millisecond)
		b.mu.Lock()
		in := b.now
		b.mu.Unlock()
		if in != nil && len(group(in.process.cmd.Process.Pid)) > 4 {
			fmt.Println(in.process.cmd.Process.Pid, in.process.profile)
			select {}
		}
	}
}

// If this process is killed, the browser and all its children end, even if a script of a page never
// ends. The next browser removes the profile.
func TestKilled(t *testing.T) {
	b := newBrowser(t, Options{})
	t.Setenv("TMPDIR", t.TempDir())
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), drawsForever+"=1")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var leader int
	var profile string
	if _, err := fmt.Sscan(line, &leader, &profile); err != nil {
		t.Fatal(err)
	}
	all := family(leader)
	_ = child.Process.Signal(syscall.SIGKILL)
	_ = child.Wait()
	ends(t, all)
	if _, err := os.Stat(profile); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(profile, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Draw(t.Context(), page("<p>x"), refuseAll); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(profile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the profile of the killed browser is still there: %v", err)
	}
	b.Close()
	if left := temporary(t); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
