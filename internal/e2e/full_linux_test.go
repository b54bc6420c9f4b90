package e2e

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDiskFilledAtOnce crawls into a small file system, which another program fills at once at a
// random moment. A check of the free space would come too late. Each run must end with a message
// about the full disk and exit code 1. When space is available again, the same command must
// continue, and in the end the store must have the pages of an undisturbed crawl. The test runs
// without and with an archive.
func TestDiskFilledAtOnce(t *testing.T) {
	runs, pages := 4, 3000
	if long(t) == full {
		runs, pages = 40, 10_000
	}
	if !mayMount() {
		t.Skip("no file system may be mounted")
	}
	skink := buildSkink(t)
	disk := filepath.Join(t.TempDir(), "disk")
	if err := errors.Join(os.Mkdir(disk, 0o777), tmpfs(disk, "size=160m")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	sites := startSites(t, pages)
	calm := filepath.Join(t.TempDir(), "calm")
	crawlOnce(t, skink, calm, sites, 0)
	want := exported(t, skink, calm)

	store := filepath.Join(disk, "store")
	var more []string
	if rand.IntN(2) == 0 {
		more = []string{"--warc", filepath.Join(disk, "archive")}
	}
	sites.forget()
	filled := 0
	for left := runs; left > 0; left-- {
		share := (len(want) - sites.answered()) / left
		if fillDuringCrawl(t, skink, store, disk, sites, 1+rand.IntN(max(2*share, 1)), more) {
			filled++
		}
	}
	crawlOnce(t, skink, store, sites, 0, more...)
	t.Logf("%d of %d runs met a full disk; more flags: %v", filled, runs, more)
	if filled == 0 {
		t.Errorf("none of %d runs met a full disk", runs)
	}
	got := exported(t, skink, store)
	samePages(t, got, want)
	sound(t, got)
}

// fillDuringCrawl runs a crawl, and fills the disk after the given number of responses until the
// crawl has ended. It reports whether the crawl failed because of the full disk.
func fillDuringCrawl(t *testing.T, skink, store, disk string, sites *sites, answers int, more []string) bool {
	t.Helper()
	cmd := exec.Command(skink, sites.crawl(store, more)...)
	var out transcript
	cmd.Stdout, cmd.Stderr = &out, &out
	due := sites.after(answers)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-due:
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		filler := startFiller(t, disk)
		err = <-ended
		filler()
	}
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	text := out.String()
	switch {
	case !errors.As(err, &exit) || exit.ExitCode() != 1:
		t.Fatalf("the crawl ended with %v, want exit code 1:\n%.3000s", err, text)
	case strings.Contains(text, "goroutine ") || strings.Contains(text, "SIGBUS"):
		t.Fatalf("the crawl ended with a trace:\n%.3000s", text)
	case !strings.Contains(text, "the crawl stopped: ") || !strings.Contains(text, "continue with: skink crawl"):
		t.Fatalf("the crawl does not say how it goes on:\n%.3000s", text)
	}
	t.Logf("%s", strings.TrimSpace(text))
	return true
}

// startFiller keeps a disk full until stop is called, even if other programs free space. The
// function stop removes the file that fills the disk.
func startFiller(t *testing.T, disk string) (stop func()) {
	name := filepath.Join(disk, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	closing, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for chunk := make([]byte, 4<<20); ; {
			select {
			case <-closing:
				return
			default:
			}
			switch _, err := f.Write(chunk); {
			case errors.Is(err, syscall.ENOSPC) && len(chunk) > 4<<10:
				chunk = chunk[:len(chunk)/2]
			case errors.Is(err, syscall.ENOSPC):
				time.Sleep(time.Millisecond)
			case err != nil:
				t.Error(err)
				return
			}
		}
	}()
	return func() {
		close(closing)
		<-ended
		if err := errors.Join(f.Close(), os.Remove(name)); err != nil {
			t.Error(err)
		}
	}
}
