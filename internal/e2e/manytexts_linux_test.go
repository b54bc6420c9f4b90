package e2e

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyTexts is the number of short texts that TestManyTexts judges. Only the filter of the index
// grows in memory with the number of texts: ten bits for each key, some 20 bytes for each text.
var manyTexts = map[form]int{short: 50_000, full: 10_000_000}

// TestManyTexts judges millions of short texts in bounded memory. Eight of ten texts are new, one
// is a copy of an earlier one, and one is a near-duplicate. The texts have no names of their own.
func TestManyTexts(t *testing.T) {
	n := manyTexts[long(t)]
	const bound = 1 << 30 // bytes of memory, including mapped files of the store
	cmd := exec.Command(buildSkink(t), "dedup", "--memory", "512MB", "--min-words", "10", "--shingle", "3", "--out", os.DevNull, "--unique", os.DevNull, "-")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writeTexts(bufio.NewWriterSize(in, 1<<20), n)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("%d texts in %v, %.0f a second, peak memory %d MB: %s", n, time.Since(began).Round(time.Second), float64(n)/time.Since(began).Seconds(), peak>>20, said.String())
	if peak > bound {
		t.Errorf("%d MB of memory, want at most %d", peak>>20, int64(bound)>>20)
	}
	if want := fmt.Sprintf("%d texts: ", n); !strings.HasPrefix(strings.ReplaceAll(said.String(), ",", ""), want) {
		t.Errorf("said %s, want %s", said.String(), want)
	}
}

// writeTexts writes n texts of thirty words as JSON Lines.
func writeTexts(out *bufio.Writer, n int) {
	defer out.Flush()
	text := func(seed uint64) []string {
		rng := rand.New(rand.NewPCG(seed, 9))
		words := make([]string, 30)
		for i := range words {
			words[i] = fmt.Sprintf("w%x", rng.IntN(1<<16))
		}
		return words
	}
	for i := range n {
		words := text(uint64(i))
		switch i % 10 {
		case 4:
			words = text(uint64(i - 4))
		case 9:
			words = text(uint64(i - 7))
			words[29] = "changed"
		}
		fmt.Fprintf(out, "{\"text\":%q}\n", strings.Join(words, " "))
	}
}
