package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestKilledOpening kills short crawls, of which each opens its store, judges a page or
// two, and closes it, at any moment from start to end. None of them finds the store
// damaged, and what is left in the end is what an undisturbed crawl leaves.
//
// 200 kills with SKINK_LONG=short, 1,000 with SKINK_LONG=full. SKINK_BIN names a
// program to try instead of this one.
func TestKilledOpening(t *testing.T) {
	kills := 200
	if long(t) == full {
		kills = 1000
	}
	skink := os.Getenv("SKINK_BIN")
	if skink == "" {
		skink = buildSkink(t)
	}
	sites := startSites(t, 4*kills)
	store := filepath.Join(t.TempDir(), "store")
	whole := time.Duration(0) // how long a run lasts, by those that ended
	killed, refused := 0, 0
	for run := 1; killed < kills && run < 10*kills; run++ {
		args := []string{"crawl", "--quiet", "--store", store, "--delay", "0", "--max-pages", fmt.Sprint(1 + run)}
		cmd := exec.Command(skink, append(args, sites.seeds...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		started := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if whole > 0 && run%8 != 0 { // every eighth runs to its end
			end.Reset(rand.N(whole + whole/8))
		}
		err := cmd.Wait()
		switch took := time.Since(started); {
		case !end.Stop():
			killed++
		case err != nil:
			refused++
			t.Errorf("after %d kills: %v: %s", killed, err, out.Bytes())
			if refused > 50 {
				t.FailNow()
			}
		case whole == 0:
			whole = took
		default:
			whole = (7*whole + took) / 8 // machines become slower and faster
		}
	}
	t.Logf("%d runs killed, of some %v each; %d refused", killed, whole.Round(time.Millisecond), refused)
	if killed < kills/2 {
		t.Errorf("only %d of %d runs were killed", killed, kills)
	}
	seen := map[string]bool{}
	for _, l := range exported(t, skink, store) {
		if seen[l.URL] {
			t.Errorf("%s was judged twice", l.URL)
		}
		seen[l.URL] = true
	}
}
