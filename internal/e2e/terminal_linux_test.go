package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A crawl shows a status line only on a terminal that can redraw a line. It must not send escape
// sequences to a dumb terminal.
func TestDumbTerminal(t *testing.T) {
	for kind, escapes := range map[string]bool{"dumb": false, "xterm": true} {
		shown := onTerminal(t, "TERM="+kind, "crawl", "--store", filepath.Join(t.TempDir(), "store"), "testdata/site")
		if got := strings.Contains(shown, "\x1b"); got != escapes || !strings.Contains(shown, "pages in") {
			t.Errorf("%s: escape sequences: %v, want %v\n%q", kind, got, escapes, shown)
		}
	}
}

// onTerminal runs skink, and returns the standard error that a terminal receives.
func onTerminal(t *testing.T, env string, args ...string) string {
	t.Helper()
	keeper, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer keeper.Close()
	fd := int(keeper.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("skink", args...)
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = terminal
	var shown strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&shown, keeper) // returns an error when the last user of the terminal has ended
	}()
	err = cmd.Run()
	terminal.Close()
	<-read
	if err != nil {
		t.Fatalf("%v: %s", err, shown.String())
	}
	return shown.String()
}
