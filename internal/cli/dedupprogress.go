package cli

import (
	"fmt"
	"sync"
	"time"

	"skink/store"
)

// A judging is what a running dedup shows of itself.
type judging struct {
	read, size int64 // bytes of the files as they are packed; size -1: unknown
	found      store.Tally
	took       time.Duration
}

func (j judging) line() string {
	rate := float64(j.read) / max(j.took.Seconds(), 1e-3)
	of, left := "", ""
	if j.size >= 0 {
		of = " of " + bytesText(j.size)
	}
	if j.size > j.read && j.read > 0 && j.took >= time.Second {
		left = fmt.Sprintf("  %s left", time.Duration(float64(j.size-j.read)/rate*float64(time.Second)).Round(time.Second))
	}
	return fmt.Sprintf("%s%s  %s/s  unique %d  exact %d  near %d  thin %d%s",
		bytesText(j.read), of, bytesText(int64(rate)), j.found.Unique, j.found.Exact, j.found.Near, j.found.Thin, left)
}

// showWhile runs do, and keeps one line of progress on a terminal up to date until do returns. Then
// the line is cleared. Errors that are printed meanwhile stand on lines of their own.
func showWhile(con Console, now func() judging, do func() error) error {
	if !con.Terminal {
		return do()
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				fmt.Fprint(con.screen, clearLine)
				return
			case <-tick.C:
				line := now().line()
				fmt.Fprint(con.screen, clearLine)
				fmt.Fprint(con.Err, line[:min(len(line), max(con.Columns()-1, 20))])
			}
		}
	})
	err := do()
	close(done)
	wait.Wait()
	return err
}
