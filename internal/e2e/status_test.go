package e2e

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"skink/internal/cli"
)

// TestStatusLine crawls with a terminal of 60 columns as output. A single status line must be
// overwritten repeatedly without wrapping, and disappear before the summary.
func TestStatusLine(t *testing.T) {
	sites := startSites(t, 600)
	var screen bytes.Buffer
	args := append([]string{"crawl", "--store", filepath.Join(t.TempDir(), "store"), "--delay", "0", "--parallel", "1"}, sites.seeds...)
	code := cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &screen, Terminal: true, Columns: func() int { return 60 }})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, &screen)
	}
	const clear = "\r\x1b[K"
	before, summary, _ := cutLast(screen.String(), clear)
	if strings.ContainsAny(summary, "\r\x1b") || !strings.Contains(summary, " pages in ") {
		t.Errorf("after the status line:\n%q", summary)
	}
	lines := strings.Split(before, clear)
	if len(lines) < 2 {
		t.Fatalf("no status line:\n%q", before)
	}
	if !strings.HasPrefix(lines[0], "Crawling 2 seeds into ") {
		t.Errorf("first line %q", lines[0])
	}
	status := regexp.MustCompile(`^\d+ pages  \d+/s  unique \d+  exact \d+  near \d+  `)
	for _, l := range lines[1:] {
		if len(l) >= 60 || !status.MatchString(l) {
			t.Errorf("status line of %d bytes: %q", len(l), l)
		}
	}
}

// TestAsked asks a crawl at a terminal for its hosts by a signal. The hosts must appear above the
// status line.
func TestAsked(t *testing.T) {
	sites := startSites(t, 200)
	var screen bytes.Buffer
	args := append([]string{"crawl", "--store", filepath.Join(t.TempDir(), "store"), "--delay", "0", "--parallel", "1"}, sites.seeds...)
	console := cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &screen, Terminal: true, Columns: func() int { return 60 }}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1) // before the crawl catches it, the signal would end the process
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGUSR1)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	code := cli.Run(ctx, args, console)
	cancel()
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, &screen)
	}
	for _, want := range []string{"\r\x1b[Kslow hosts: ", "suspended hosts: 0\n"} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("no %q in\n%q", want, &screen)
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
