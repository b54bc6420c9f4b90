package cli

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPainter(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := painter{&b}
	text := "  unique    49    62.0%  less than 80% the same as any earlier page\nerrors: problems\nok\n  near  0.887  http://a.test/\n" +
		"pages  http://a.test/near  exact\n  exact duplicates\nverdict  thin    at least\nnotes of a page\n"
	want := "  \x1b[32munique\x1b[m    49    62.0%  less than 80% the same as any earlier page\n\x1b[31merrors\x1b[m: problems\n\x1b[32mok\x1b[m\n  \x1b[33mnear\x1b[m  0.887  http://a.test/\n" +
		"pages  http://a.test/near  \x1b[31mexact\x1b[m\n  exact duplicates\nverdict  \x1b[90mthin\x1b[m    at least\nnotes of a page\n"
	if n, err := p.Write([]byte(text)); err != nil || n != len(text) || b.String() != want {
		t.Errorf("%d, %v, got %q, want %q", n, err, b.String(), want)
	}
}

// Colors appear only on a terminal, and not if the user switches them off.
func TestPainted(t *testing.T) {
	terminal, reader := openTerminal(t)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		to            *os.File
		term, noColor string
		want          bool
	}{
		{terminal, "xterm", "", true}, {terminal, "dumb", "", false}, {terminal, "xterm", "1", false}, {file, "xterm", "", false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		fmt.Fprint(painted(c.to, c.to), "errors: some\n")
		got := make([]byte, 100)
		n := 0
		if c.to == terminal {
			n, err = reader.Read(got)
		} else {
			n, _ = file.ReadAt(got, 0) // to the end of the file
		}
		if err != nil || bytes.Contains(got[:n], []byte("\x1b[31merrors\x1b[m: some")) != c.want || n == 0 {
			t.Errorf("TERM=%s NO_COLOR=%s on %s: %q, %v", c.term, c.noColor, c.to.Name(), got[:n], err)
		}
	}
}

// openTerminal returns the two ends of a pseudo-terminal: what a program sees as its terminal, and what reads it.
func openTerminal(t *testing.T) (terminal, reader *os.File) {
	t.Helper()
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	fd := int(reader.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close(); reader.Close() })
	return terminal, reader
}
