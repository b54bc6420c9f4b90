package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// joinTexts is the number of texts that TestKilledJoin compares. In the least memory, the short form
// takes several rounds.
var joinTexts = map[form]int{short: 8_000, full: 200_000}

// TestKilledJoin kills comparisons of all texts with each other, which take several rounds. The next
// run continues with the next round, so a comparison ends although each run is killed after a round.
// Its report is that of a comparison that was never killed. skink dedup begins again, with the same
// result, and nothing piles up in the folder for temporary files.
func TestKilledJoin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := &joinKill{skink: buildSkink(t), temporary: filepath.Join(dir, "temporary")}
	texts, kept, store := filepath.Join(dir, "texts.jsonl"), filepath.Join(dir, "kept.jsonl"), filepath.Join(dir, "store")
	if err := errors.Join(os.Mkdir(j.temporary, 0o700), os.WriteFile(texts, pairedTexts(joinTexts[long(t)]), 0o600)); err != nil {
		t.Fatal(err)
	}
	j.run(t, "dedup", "--quiet", "--store", store, texts)
	report := []string{"report", "--store", store, "--complete", "--format", "json"}
	want := j.run(t, append(report, "--memory", "4GB")...) // one round
	state := filepath.Join(store, "alike.kept")
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	report = append(report, "--memory", "64MB")
	kills := 0
	for j.killedAfter(t, state, report...) {
		if kills++; kills > 200 {
			t.Fatal("a run does not continue where the one before was killed")
		}
	}
	if got := j.run(t, report...); got != want {
		t.Error("the report differs from that of a comparison that was not killed")
	}
	if kills < 2 {
		t.Errorf("only %d runs were killed", kills)
	}
	t.Logf("%d runs of report --complete were killed", kills)

	longest := []string{"dedup", "--quiet", "--keep", "longest", "--memory", "64MB", "--unique", kept, "--out", os.DevNull, texts}
	began := time.Now()
	j.run(t, longest...)
	whole, once := time.Since(began), read(t, kept)
	for _, share := range []time.Duration{6, 9} {
		if err := os.Remove(kept); err != nil {
			t.Fatal(err)
		}
		j.killedIn(t, whole*share/10, longest...)
		j.run(t, longest...)
		if read(t, kept) != once {
			t.Errorf("after a kill in %v of %v, other texts are kept", whole*share/10, whole)
		}
	}
	j.age(t)
	j.run(t, longest...)
	j.run(t, report...)
	if left, err := os.ReadDir(j.temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// A joinKill runs skink with its own folder for temporary files.
type joinKill struct{ skink, temporary string }

func (j *joinKill) command(args ...string) *exec.Cmd {
	cmd := exec.Command(j.skink, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+j.temporary)
	return cmd
}

func (j *joinKill) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := j.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// age makes what is left of killed runs so old that the next run removes it.
func (j *joinKill) age(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(j.temporary, "*"))
	for _, path := range left {
		err = errors.Join(err, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// killedAfter kills a run as soon as a file changes. It reports false if the run ends before.
func (j *joinKill) killedAfter(t *testing.T, file string, args ...string) bool {
	t.Helper()
	before, _ := os.ReadFile(file) // there is none at first
	cmd := j.command(args...)
	ended := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-time.After(2 * time.Millisecond):
		}
		if now, err := os.ReadFile(file); err == nil && !bytes.Equal(now, before) {
			_ = cmd.Process.Kill()
			return <-ended != nil
		}
	}
}

// killedIn kills a run after some time, if it has not ended before.
func (j *joinKill) killedIn(t *testing.T, after time.Duration, args ...string) {
	t.Helper()
	cmd := j.command(args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	_ = cmd.Wait()
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pairedTexts returns n texts of a hundred words as JSON Lines. In the second half, each resembles one
// of the first, so all are in the join.
func pairedTexts(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		of := i % (n / 2)
		rng := rand.New(rand.NewPCG(uint64(of), 41))
		changed := rng.IntN(60)
		fmt.Fprintf(&out, "{\"url\":\"http://h%d.test/%d\",\"text\":\"", i%50, i)
		for at := range 100 {
			word := rng.IntN(1 << 16)
			if of != i && at >= 100-changed {
				word += 1 << 17
			}
			fmt.Fprintf(&out, "w%x ", word)
		}
		out.WriteString("\"}\n")
	}
	return out.Bytes()
}
