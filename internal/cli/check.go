package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"skink/report"
	"skink/store"
	"skink/store/badger"
)

var checkCommand = command{
	name:  "check",
	args:  "[flags]",
	short: "check a store for damage",
	long: `
Reads every file of a store, and prints which files are damaged and how much is lost. It
changes nothing. The exit code is 1 if a file is damaged. Stop a crawl before you check its
store; afterwards, the same command continues the crawl.

skink report and skink export skip damaged pages and print a message. A crawl refuses a
damaged store. Continue it in a copy: skink store copy copies all readable pages, and queues
the URLs of the others.

This command checks a store, for example after its disk has reported errors:

  skink check --store docs`,
	setup: setupCheck,
}

func setupCheck(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	dir := addStoreFlag(flags)
	return func(ctx context.Context, con Console, _ []string) error {
		if isShared(*dir) {
			return usagef("%s is on a server, but skink check checks only stores in folders: use PostgreSQL's own tools to check the server", *dir)
		}
		found, err := badger.Check(*dir)
		if errors.Is(err, store.ErrInUse) {
			return fmt.Errorf("%s: %w: stop that process first (if it is a crawl, press Ctrl-C; the same command continues it)", *dir, store.ErrInUse)
		}
		if err != nil {
			return openError(*dir, err, true)
		}
		if len(found.Damage) == 0 {
			s, err := openToRead(ctx, *dir, con.Err) // fails if the store is an incomplete copy
			if err == nil {
				err = s.close()
			}
			if err != nil {
				return err
			}
		}
		return printFinding(con.Out, *dir, found)
	}
}

func printFinding(out io.Writer, dir string, f badger.Finding) error {
	for _, d := range f.Damage {
		fmt.Fprintf(out, "%s: %s\n", d.File, d.What)
	}
	for _, d := range f.Index {
		fmt.Fprintf(out, "%s: %s; the next crawl rebuilds it\n", d.File, d.What)
	}
	if len(f.Damage) > 0 {
		fmt.Fprintln(out, costText(f.Loss))
	} else if text := lossText(f.Loss); text != "" {
		fmt.Fprintln(out, text)
	}
	if len(f.Damage)+len(f.Index) > 0 || f.Loss.Transactions > 0 {
		return exitError(exitFailed)
	}
	_, err := fmt.Fprintf(out, "%s is not damaged; it contains %s\n", dir, report.Counted(f.Tally.Pages(), "page"))
	return err
}

// damageError returns an error if opening the store in dir found damaged data, because the output
// of a command would lack that data.
func damageError(dir string, l badger.Loss) error {
	if len(l.Damage) == 0 {
		return nil
	}
	return fmt.Errorf("%s: the output is incomplete. %s", dir, damageText(l))
}

// lossText describes the data that was damaged or incomplete when a store was opened. It returns ""
// if nothing was lost.
func lossText(l badger.Loss) string {
	switch {
	case len(l.Damage) > 0:
		return damageText(l)
	case l.Transactions == 0:
		return ""
	case l.Records <= 0:
		return "The last changes to the store were lost because of a power failure or a damaged log. Earlier data is complete, and a crawl continues from it."
	}
	return fmt.Sprintf("The last %s of the store were lost because of a power failure or a damaged log. Earlier data is complete, and the next crawl fetches the lost data again.", report.Counted(l.Records, "response"))
}

func damageText(l badger.Loss) string {
	files := fmt.Sprintf("%s: %s", l.Damage[0].File, l.Damage[0].What)
	if more := len(l.Damage) - 1; more > 0 {
		files += fmt.Sprintf("; to list %s, run skink check", report.Counted(more, "more file"))
	}
	return "Damaged: " + files + ": " + costText(l)
}

// costText describes how many responses were lost because of damage, and how many URLs must be
// fetched again.
func costText(l badger.Loss) string {
	text := "no pages are lost"
	switch {
	case l.Missing > l.Pending:
		text = fmt.Sprintf("%s lost; skink store copy queues %s again, and a crawl finds other lost URLs by links to them", report.Counted(l.Missing, "response"), report.Counted(l.Pending, "URL"))
	case l.Missing > 0:
		text = fmt.Sprintf("%s lost; skink store copy queues %s again", report.Counted(l.Missing, "response"), report.Counted(l.Pending, "URL"))
	case l.Pending > 0:
		text = fmt.Sprintf("skink store copy queues %s again", report.Counted(l.Pending, "URL"))
	case l.Names:
		text = "the amount of lost data is unknown"
	}
	if l.Names {
		text += "; settings, seeds or the position of the feed may also be lost"
	}
	return text
}
