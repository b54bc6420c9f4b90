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

// TestKilledOpening kills short crawls at random moments. Each opens its store, judges a page or
// two, and closes the store. No crawl may find the store damaged, and no page may be judged twice.
//
// SKINK_LONG=short kills 25 times, and SKINK_LONG=full 1,000 times. SKINK_BIN names another
// program to test.
func TestKilledOpening(t *testing.T) {
	t.Parallel()
	kills := 25
	if long(t) == full {
		kills = 1000
	}
	skink := os.Getenv("SKINK_BIN")
	if skink == "" {
		skink = buildSkink(t)
	}
	sites := startSites(t, 4*kills)
	store := filepath.Join(t.TempDir(), "store")
	whole := time.Duration(0) // average duration of a run that was not killed
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
		if whole > 0 && run%8 != 0 { // let one run in eight end normally
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
			whole = (7*whole + took) / 8 // a moving average, because the speed of the machine changes
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
