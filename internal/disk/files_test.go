package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTooFewFiles(t *testing.T) {
	dir := t.TempDir()
	for name := range 10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.sst", name)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		limit int64
		extra int
		says  string
	}{
		{18, 0, "the limit on open files is too low: it is 18, but at least 58 files are needed: raise the limit, for example with: ulimit -n 1024"},
		{20, 16, "it is 20, but at least 74 files are needed"},
		{57, 0, "it is 57, but at least 58 files are needed"},
		{58, 0, ""},
		{0, 0, ""}, // the limit on open files is not known
		{1024, 5000, "ulimit -n 16384"},
	} {
		err := CheckFiles(dir, tt.extra, tt.limit, ".sst", ".seg")
		if tt.says == "" && err != nil || tt.says != "" && (!errors.Is(err, ErrFiles) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%d and %d: %v, want %q", tt.limit, tt.extra, err, tt.says)
		}
	}
}
