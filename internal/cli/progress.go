package cli

import (
	"fmt"
	"sync"
	"time"

	"skink/report"
	"skink/store"
)

const (
	statusEvery = 200 * time.Millisecond
	lineEvery   = time.Minute
)

// clearLine is the escape sequence that moves to the beginning of the terminal's line and erases
// it.
const clearLine = "\r\x1b[K"

type judging struct {
	read, size int64 // bytes read so far and in total, before decompression; size is -1 if unknown
	found      store.Tally
	took       time.Duration
}

func (j judging) line() string {
	rate := float64(j.read) / max(j.took.Seconds(), 1e-3)
	of, left := "", ""
	if j.size >= 0 {
		of = " of " + report.Bytes(j.size)
	}
	if j.size > j.read && j.read > 0 && j.took >= time.Second {
		left = fmt.Sprintf("  %s left", time.Duration(float64(j.size-j.read)/rate*float64(time.Second)).Round(time.Second))
	}
	return fmt.Sprintf("%s%s  %s/s  unique %s  exact %s  near %s  thin %s%s",
		report.Bytes(j.read), of, report.Bytes(int64(rate)), report.Grouped(j.found.Unique), report.Grouped(j.found.Exact), report.Grouped(j.found.Near), report.Grouped(j.found.Thin), left)
}

// showWhile calls do. Until do returns, it repeatedly calls now and shows the result: on a terminal as a status
// line, which it erases at the end, and otherwise as a line each minute. Errors printed by do appear on
// separate lines. If quiet is set, it only calls do.
func showWhile(con Console, quiet bool, now func() string, do func() error) error {
	if quiet {
		return do()
	}
	every, show, end := lineEvery, func() { fmt.Fprintf(con.Err, "skink: %s\n", now()) }, func() {}
	if con.Terminal {
		every, end = statusEvery, func() { fmt.Fprint(con.screen, clearLine) }
		show = func() {
			line := now()
			fmt.Fprint(con.screen, clearLine)
			fmt.Fprint(con.Err, line[:min(len(line), max(con.Columns()-1, 20))])
		}
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.Tick(every)
		for {
			select {
			case <-done:
				end()
				return
			case <-tick:
				show()
			}
		}
	})
	err := do()
	close(done)
	wait.Wait()
	return err
}
