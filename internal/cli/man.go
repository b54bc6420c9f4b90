package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

func manCommand() command {
	return command{
		name:  "man",
		args:  "DIR",
		short: "write the man pages",
		long: `
Writes man pages to a folder: skink.1, and one page for each command.

This command writes the pages to a folder where the man command looks for them:

  skink man ~/.local/share/man/man1`,
		setup: func(*pflag.FlagSet) runFunc {
			return func(ctx context.Context, con Console, args []string) error {
				return writeManPages(ctx, con, args[0])
			}
		},
	}
}

func writeManPages(ctx context.Context, con Console, dir string) error {
	folder, err := con.files.ClaimFolder("the folder", dir, false)
	if err != nil {
		return usageError{Err: err}
	}
	if err := folder.Make(); err != nil {
		return fmt.Errorf("write man pages: %w", err)
	}
	var page bytes.Buffer
	write := func(name string) error {
		to, err := con.files.Claim("the page", filepath.Join(dir, name+".1"), "")
		if err != nil {
			return err
		}
		return to.Write(ctx, func(w io.Writer) error {
			_, err := page.WriteTo(w)
			return err
		})
	}
	writeMainPage(&page)
	err = write("skink")
	for _, c := range commands() {
		if err == nil {
			c.writeManPage(&page)
			err = write("skink-" + c.name)
		}
	}
	if err != nil {
		return fmt.Errorf("write man pages: %w", err)
	}
	return nil
}

func writeMainPage(w io.Writer) {
	manHead(w, "skink", "web crawler that finds duplicate pages")
	fmt.Fprintf(w, ".B skink\n.I command\n.RI [ flags ]\n.RI [ arguments ]\n")
	fmt.Fprintf(w, ".SH DESCRIPTION\nskink crawls web sites and finds duplicate and near\\-duplicate pages.\n.SH COMMANDS\n")
	for _, c := range commands() {
		fmt.Fprintf(w, ".TP\n.BR skink\\-%s (1)\n%s\n", c.name, roff(c.short))
	}
	fmt.Fprintf(w, ".TP\n.B skink help \\fItopic\\fR\nprint a page of the manual: %s\n", roff(strings.Join(topicNames(), ", ")))
	manExit(w)
}

func (c command) writeManPage(w io.Writer) {
	flags, _ := c.newFlags()
	manHead(w, "skink-"+c.name, c.short)
	fmt.Fprintf(w, ".B skink %s\n%s\n.SH DESCRIPTION\n", c.name, roff(c.args))
	manText(w, c.long+"\n\n"+strings.TrimSpace(c.more))
	fmt.Fprint(w, ".SH OPTIONS\n")
	for _, g := range c.groups(flags) {
		fmt.Fprintf(w, ".SS %s\n", g.heading)
		for _, f := range g.shown(flags, true) {
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(flagColumn(f))), roff(flagText(f)))
		}
		if g.example != "" {
			fmt.Fprintf(w, ".PP\nExample:\n.PP\n.EX\n  %s\n.EE\n", roff(g.example))
		}
	}
	manExit(w)
	fmt.Fprint(w, ".SH SEE ALSO\n.BR skink (1)\n")
}

func manHead(w io.Writer, name, short string) {
	fmt.Fprintf(w, ".TH %s 1 \"\" skink\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", strings.ToUpper(name), roff(name), roff(short))
}

func manExit(w io.Writer) {
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range exitCodes {
		fmt.Fprintf(w, ".TP\n.B %d\n%s\n", e.code, roff(e.meaning))
	}
}

// manText writes text in troff format. Empty lines separate paragraphs, and indented lines are not
// wrapped.
func manText(w io.Writer, text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			fmt.Fprintln(w, ".PP")
		}
		if strings.HasPrefix(part, "  ") {
			fmt.Fprintf(w, ".EX\n%s\n.EE\n", roff(part))
		} else {
			fmt.Fprintln(w, roff(part))
		}
	}
}

// roff escapes text so that troff does not read any part of it as a command.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
