// Package cli is the command line: it turns flags into options, connects packages, and prints. Each
// command has a file with its name. That file adds the command's flags to a struct that only flags
// fill. Other packages compute the output of a command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"skink/frontier"
	"skink/internal/harmless"
	"skink/internal/session"
)

// Exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitDiffers = 3   // compare --check: no duplicates
	exitFound   = 4   // report --fail-on: a bound was exceeded
	exitUnheard = 141 // the reader of the output has gone: the code that a shell uses for a process ended by SIGPIPE
)

// A Console holds the streams of a process, and whether they are terminals.
type Console struct {
	In         io.Reader
	Out, Err   io.Writer
	Terminal   bool       // Err is a terminal
	InTerminal bool       // In is a terminal
	Columns    func() int // width of the terminal; used if Terminal

	screen io.Writer // Err without the guard: for the escape sequences of the status line
}

// guard keeps escape sequences in the output from reaching the terminal until end is called.
func (con *Console) guard() (end func()) {
	out, err := harmless.Text(con.Out), harmless.Text(con.Err)
	con.screen, con.Out, con.Err = con.Err, out, err
	return func() {
		_ = out.Flush() // writes the rest of a character; an earlier write has returned the error if the reader has gone
		_ = err.Flush()
	}
}

// A command is a subcommand of skink.
type command struct {
	name  string
	args  string // the arguments after the flags
	short string // one line
	long  string // what it does
	more  string // details
	setup func(flags *pflag.FlagSet) runFunc
}

// A runFunc runs a command whose flags are set.
type runFunc = func(ctx context.Context, con Console, args []string) error

func commands() []command {
	return []command{crawlCommand, dedupCommand, compareCommand, extractCommand, reportCommand, exportCommand, statusCommand, checkCommand, viewCommand, configCommand(), tuneCommand, keyCommand, versionCommand, completionCommand(), manCommand()}
}

// A usageError is an invalid command line. The exit code is 2.
type usageError = session.UsageError

func usagef(format string, args ...any) error { return usageError{Err: fmt.Errorf(format, args...)} }

// An exitError ends the process with a code and without a message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run runs the command in args, which do not include the program's name, and returns the exit code.
// ctx ends when the user stops the command; its cause is syscall.EPIPE when the reader of the
// output has gone.
func Run(ctx context.Context, args []string, con Console) int {
	defer con.guard()()
	log.SetOutput(io.Discard) // net/http logs unexpected answers of servers there; the page's record has the problem
	err := interrupted(ctx, run(ctx, args, con))
	var code exitError
	var usage usageError
	switch {
	case errors.Is(context.Cause(ctx), syscall.EPIPE):
		return exitUnheard
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		printError(con.Err, err)
		return exitUsage
	}
	printError(con.Err, err)
	return exitFailed
}

// interrupted replaces the error of a command that was stopped by one that users understand.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

func run(ctx context.Context, args []string, con Console) error {
	if len(args) == 0 {
		printManual(con.Err)
		return exitError(exitUsage)
	}
	switch args[0] {
	case "help", "-h", "--help":
		return help(con.Out, args[1:])
	case "--version":
		return versionCommand.run(ctx, args[1:], con)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], con)
		}
	}
	return noCommand(args[0])
}

// noCommand returns the error for a word that is not a command. It suggests the command that was
// probably meant: skink crawl if the word is a seed.
func noCommand(word string) error {
	names := []string{"help"}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if strings.HasPrefix(word, "-") {
		return usagef("the command is missing before %s: flags follow it, as in skink report --store docs", brief(word))
	}
	if nearest(word, names) == "" && frontier.HasScheme(word) {
		return usagef("no command is called %s: did you mean skink crawl %s?", brief(word), brief(word))
	}
	return usagef("no command is called %s: %s", brief(word), didYouMean(word, names, "", "try skink help"))
}

func (c command) run(ctx context.Context, args []string, con Console) error {
	asked, all := helpAsked(args)
	flags, body := c.newFlags()
	if !asked {
		if err := flags.Parse(args); err != nil {
			return usagef("%s: %w", c.name, flagError(err, c.name, flags))
		}
		asked, _ = flags.GetBool("help") // also -qh
	}
	if asked {
		c.printHelp(con.Out, all)
		return nil
	}
	if c.name != "config" {
		if err := c.configure(flags); err != nil {
			return err
		}
	}
	return body(ctx, con, flags.Args())
}

// printError prints an error in one line. Each of joined errors gets a line of its own.
func printError(w io.Writer, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && err.Error() == errors.Join(joined.Unwrap()...).Error() {
		for _, err := range joined.Unwrap() {
			printError(w, err)
		}
		return
	}
	fmt.Fprintf(w, "skink: %s\n", harmless.Error(err))
}
