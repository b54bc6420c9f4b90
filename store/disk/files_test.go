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
		{18, 0, "the limit on open files is 18, but at least 58 are needed: raise the limit, for example with: ulimit -n 1024"},
		{20, 16, "is 20, but at least 74 are needed"},
		{57, 0, "is 57, but at least 58 are needed"},
		{58, 0, ""},
		{0, 0, ""}, // the limit on open files is not known
		{1024, 5000, "ulimit -n 16384"},
	} {
		f := Files{Dir: dir, Exts: []string{".sst", ".seg"}, Extra: tt.extra, Limit: Limit{tt.limit, "open files", "ulimit -n "}}
		f.Count()
		err := f.Check()
		if tt.says == "" && err != nil || tt.says != "" && (!errors.Is(err, ErrFiles) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%d and %d: %v, want %q", tt.limit, tt.extra, err, tt.says)
		}
	}
	f := Files{Dir: dir, Exts: []string{".sst"}, Limit: Limit{58 + growth, "memory maps", "sysctl vm.max_map_count="}}
	f.Count()
	if err := f.CheckGrowth(); err != nil {
		t.Error(err)
	}
	f.Limit.Files--
	if err := f.CheckGrowth(); err == nil || !strings.Contains(err.Error(), "the limit on memory maps is 153, but at least 154 are needed: raise the limit, for example with: sysctl vm.max_map_count=1024") {
		t.Error(err)
	}
}
