package badger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"skink/dedup"
	"skink/store"
	"skink/store/disk"
)

// This test switches off the reserve of free space, so that the store writes until the disk is
// full. A full disk is an error of a commit or of Close, and never ends the process. When there is
// space again, the store opens and has every page that was committed.
//
// With each size of the disk, another operation fails: the creation of the first log, the writing
// of a table, or a compaction.
func TestDiskFull(t *testing.T) {
	long(t)
	for _, size := range []int{9, 18, 24, 33, 45} { // size of the disk in MiB
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir := t.TempDir()
			mount := func(options string) error {
				out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, out)
				}
				return err
			}
			if err := mount(fmt.Sprintf("size=%dm", size)); err != nil {
				t.Skip("no file system may be mounted: ", err)
			}
			t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
			committed := writeUntilFull(t, dir)
			if err := mount("remount,size=400m"); err != nil {
				t.Fatal(err)
			}
			// Badger may still be writing although Close has returned. It finishes now that there
			// is space.
			deadline := time.Now().Add(time.Minute)
			s, err := Open(dir, Options{Create: true, Reserve: -1})
			for errors.Is(err, store.ErrInUse) && time.Now().Before(deadline) {
				time.Sleep(100 * time.Millisecond)
				s, err = Open(dir, Options{Create: true, Reserve: -1})
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if loss := s.Loss(); len(loss.Damage) > 0 {
				t.Errorf("lost: %+v", loss)
			}
			for n := 1; n <= committed; n++ {
				pages, err := s.Pages(t.Context(), []dedup.Hash{entry(n).Record.ID}, store.WantText)
				if err != nil || pages[0] == nil || len(pages[0].Text) != textSize {
					t.Fatalf("page %d of %d: %v, %v", n, committed, pages, err)
				}
			}
		})
	}
}

// writeUntilFull returns the number of pages that were committed.
func writeUntilFull(t *testing.T, dir string) (committed int) {
	s, err := Open(dir, Options{Create: true, Reserve: -1})
	if err != nil {
		if !disk.Full(err) {
			t.Fatalf("Open: %v", err)
		}
		return 0
	}
	text := make([]byte, textSize)
	for {
		fillRandom(text)
		e := entry(committed + 1)
		e.Text = store.Pack(text)
		if err = commitError(t, s, e); err != nil {
			break
		}
		committed++
	}
	wantError(t, dir, err, store.ErrFull)
	if err := s.Close(); err != nil && !errors.Is(err, store.ErrFull) {
		t.Errorf("Close: %v", err)
	}
	return committed
}

const textSize = 100 << 10

func fillRandom(b []byte) {
	for i := range b {
		b[i] = byte('a' + rand.IntN(26))
	}
}
