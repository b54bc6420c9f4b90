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
	"skink/store/postgres"
)

var checkCommand = command{
	name:  "check",
	args:  "[flags]",
	short: "check a store for damage",
	setup: setupCheck,
}

func setupCheck(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	dir := addStoreFlag(flags)
	return func(ctx context.Context, con Console, _ []string) error {
		if isShared(*dir) {
			return checkShared(ctx, *dir, con.Out)
		}
		var found badger.Finding
		err := untilFree(ctx, func() (err error) {
			found, err = badger.Check(*dir)
			return err
		})
		if errors.Is(err, store.ErrInUse) {
			return fmt.Errorf("%s: %w: stop that process first (if it is a crawl, press Ctrl-C; the same command continues it)", *dir, inUse(*dir))
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

// cures says what to do about each kind of fault.
var cures = map[postgres.Cure]string{
	postgres.CopyStore:  "Rows that contradict others: skink store copy writes a new store without these faults, and a crawl of it fetches the pages that are missing.",
	postgres.DeletePage: "Pages that must be fetched again: delete each with skink delete --again --url URL, and crawl again.",
	postgres.RunSQL:     "Rows that a statement mends: run it, as shown, in the schema of the store.",
	postgres.DropRow:    "Rows that a copy would keep: restore a backup, or delete each in SQL (DELETE FROM page WHERE id = '...'), and then run skink store copy and check the copy; a crawl of it fetches the pages again.",
}

// checkShared checks a store on a server, and prints at most 20 faults for each cure.
func checkShared(ctx context.Context, name string, out io.Writer) error {
	s, at, err := openPostgres(ctx, name, postgres.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer s.Close()
	faults, tally, err := s.Check(ctx)
	if err != nil {
		return err
	}
	const most = 20
	for cure := postgres.CopyStore; cure <= postgres.DropRow; cure++ {
		n := 0
		for _, f := range faults {
			if f.Cure != cure {
				continue
			}
			if n++; n <= most {
				fmt.Fprintf(out, "%s: %s\n", f.Row, f.What)
			}
		}
		if n > most {
			fmt.Fprintf(out, "and %s\n", report.Counted(int64(n-most), "more row"))
		}
		if n > 0 {
			fmt.Fprintln(out, cures[cure])
		}
	}
	return checked(out, at.String(), tally, len(faults) > 0)
}

func checked(out io.Writer, name string, tally store.Tally, damaged bool) error {
	if damaged {
		return exitError(exitFailed)
	}
	_, err := fmt.Fprintf(out, "%s is not damaged; it contains %s\n", name, report.Counted(tally.Pages(), "page"))
	return err
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
	return checked(out, dir, f.Tally, len(f.Damage)+len(f.Index) > 0 || f.Loss.Transactions > 0)
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
