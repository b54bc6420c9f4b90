package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"skink/store"
)

// Badger passes on the text of the system's error, sometimes in several layers. The tests may run
// as root, for whom permissions do not matter, so this test makes the errors itself.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want error
		text string
	}{
		{fmt.Errorf(`Cannot write pid file "/s/LOCK" err: %+v`, &fs.PathError{Op: "open", Path: "/s/LOCK", Err: syscall.EACCES}),
			fs.ErrPermission, "open /s/LOCK: permission denied"},
		{fmt.Errorf("while opening memtables err: %+v", "fid: 1 err: open 1.mem: read-only file system"),
			syscall.EROFS, "open 1.mem: read-only file system"},
		{fmt.Errorf("table 1: %w", &fs.PathError{Op: "write", Path: "1.sst", Err: syscall.ENOSPC}),
			syscall.ENOSPC, "table 1: write 1.sst: no space left on device"},
		{fmt.Errorf("while opening memtables err: %v", errors.Join(syscall.ENOSPC, errors.New("while mmapping 1.mem with size: 9"))),
			syscall.ENOSPC, "while mmapping 1.mem with size: 9: no space left on device"},
		{errors.New("checksum mismatch"), store.ErrCorrupt, store.ErrCorrupt.Error() + ": checksum mismatch"},
		{errors.New(`no table "permission denied"`), store.ErrCorrupt, "permission denied"},
	} {
		got := Damage(tt.err)
		if !errors.Is(got, tt.want) || !strings.Contains(got.Error(), tt.text) {
			t.Errorf("Damage(%v) = %v, want a %v with %q", tt.err, got, tt.want, tt.text)
		}
		if tt.want != store.ErrCorrupt && (errors.Is(got, store.ErrCorrupt) || got.Error() != tt.text) {
			t.Errorf("Damage(%v) = %v, want %q alone", tt.err, got, tt.text)
		}
	}
}
