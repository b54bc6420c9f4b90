// Package cli is the command line: it turns flags into options, connects packages, and prints
// results. Each command has a file with its name. That file declares a struct whose fields are set
// only by the command's flags. Other packages compute what a command prints.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/frontier"
	"skink/internal/monitor"
	"skink/internal/output"
	"skink/internal/session"
	"skink/store/badger"
)

// Exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitDiffers = 3   // compare --check: the pages are not duplicates
	exitFound   = 4   // report --fail-on: a threshold was exceeded
	exitUnheard = 141 // the reader of the output, such as head in a pipe, has closed it; 141 is what a shell reports for a process killed by SIGPIPE
)

// A Console contains the standard streams of a process, and records which of them are terminals.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool       // whether Err is a terminal
	Columns  func() int // returns the width of the terminal in characters; called only if Terminal is true

	files  *output.Files                                  // outputs and inputs of the command
	again  func(setup func(*pflag.FlagSet) runFunc) error // reads the command line and the configuration once more
	screen io.Writer                                      // Err without the filter of guard, because the status line needs escape sequences
}

// guard replaces Out and Err with writers that remove escape sequences, because text from a crawled
// page could otherwise control the user's terminal. end flushes both writers, and returns the first
// error of writing to Out.
func (con *Console) guard() (end func() error) {
	out, err := harmless.Text(con.Out), harmless.Text(con.Err)
	con.screen, con.Out, con.Err = con.Err, out, err
	return func() error {
		_ = err.Flush() // an error could not be printed
		return out.Flush()
	}
}

type command struct {
	name  string
	args  string // arguments as shown in the help, such as "[flags] PAGE..."; see checkUse
	short string // one-line description
	setup func(flags *pflag.FlagSet) runFunc
	rules []flagRule // which flags need or exclude others
}

type runFunc = func(ctx context.Context, con Console, args []string) error

func commands() []command {
	return []command{crawlCommand, dedupCommand, compareCommand, extractCommand, reportCommand, exportCommand, statusCommand, controlCommand, deleteCommand, checkCommand, storeCommand, viewCommand, tuneCommand, versionCommand}
}

func commandNamed(name string) (c command, ok bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return c, false
}

// A usageError is an invalid command line. A command that returns one makes the process exit with
// code 2.
type usageError = session.UsageError

// asUsage makes an error one of the command line. It returns nil for nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{Err: err}
}

func usagef(format string, args ...any) error { return usageError{Err: fmt.Errorf(format, args...)} }

// An exitError makes the process exit with this code without printing a message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run runs the command in args, which do not include the program's name, and returns the exit code.
// ctx ends when the user stops the command; its cause is syscall.EPIPE when the reader of the
// output has closed it.
func Run(ctx context.Context, args []string, con Console) int {
	end := con.guard()
	log.SetOutput(io.Discard) // net/http logs unexpected responses, but the record of the page already names the problem
	err := interrupted(ctx, run(ctx, args, con))
	var code exitError
	var usage usageError
	if failed := end(); failed != nil && (err == nil || errors.As(err, &code)) {
		err = failed
	}
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

// interrupted returns err, or the error "interrupted" if err only says that ctx was cancelled,
// because users do not understand "context canceled".
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
	if c, ok := commandNamed(args[0]); ok {
		return c.run(ctx, args[1:], con)
	}
	return noCommand(args[0])
}

// noCommand returns the usage error for a first argument that is not a command. The error suggests
// the command that the user probably meant: one with a similar name, or skink crawl if the word is
// a URL or a file.
func noCommand(word string) error {
	names := append([]string{"help"}, commandNames()...)
	if strings.HasPrefix(word, "-") {
		return usagef("the command is missing before %s: write it before its flags, as in skink report --store docs", brief(word))
	}
	if nearest(word, names) == "" && frontier.HasScheme(word) {
		return usagef("unknown command %s: did you mean skink crawl %s?", brief(word), brief(word))
	}
	return usagef("unknown command %s: %s", brief(word), didYouMean(word, names, "", "try skink help"))
}

func (c command) run(ctx context.Context, args []string, con Console) error {
	con.again = func(setup func(*pflag.FlagSet) runFunc) error {
		c.setup = setup
		_, _, err := c.parse(args)
		return err
	}
	asked, all := helpAsked(args)
	if asked {
		args = []string{"--help"}
	}
	flags, body, err := c.parse(args)
	if err != nil {
		return err
	}
	if asked, _ = flags.GetBool("help"); asked { // finds combined short flags such as -qh, which helpAsked does not see
		c.printHelp(con.Out, all)
		return nil
	}
	con.files = output.New(con.Out, badger.IsStore)
	if err := claimOutputs(flags, con.files); err != nil {
		return usageError{Err: err}
	}
	return body(ctx, con, flags.Args())
}

// parse sets flags to the values in args and in the configuration file, and returns a function that runs the command.
func (c command) parse(args []string) (*pflag.FlagSet, runFunc, error) {
	flags, body := c.newFlags()
	if err := flags.Parse(args); err != nil {
		return nil, nil, usagef("%s: %w", c.name, flagError(err, c.name, flags))
	}
	if help, _ := flags.GetBool("help"); help {
		return flags, body, nil
	}
	err := c.configure(flags)
	if err == nil {
		err = c.checkUse(flags)
	}
	return flags, body, err
}

// printError prints an error on one line. If the error was made by errors.Join, each of the joined
// errors gets its own line.
func printError(w io.Writer, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && err.Error() == errors.Join(joined.Unwrap()...).Error() {
		for _, err := range joined.Unwrap() {
			printError(w, err)
		}
		return
	}
	fmt.Fprintf(w, "skink: %s\n", harmless.Error(err))
}

// version is the version of a release, or "" for other builds. The linker sets it when a release is
// built:
//
//	go build -ldflags "-X skink/internal/cli.version=v1.2.3"
var version string

var versionCommand = command{
	name:  "version",
	short: "print the version",
	setup: func(*pflag.FlagSet) func(context.Context, Console, []string) error {
		return func(_ context.Context, con Console, _ []string) error {
			b := readBuild()
			_, err := fmt.Fprintf(con.Out, "skink %s\nbuilt with %s for %s/%s\n", b.Version, b.Go, runtime.GOOS, runtime.GOARCH)
			return err
		}
	},
}

// readBuild returns the version of the program. Without -ldflags, it is the version that the Go command has recorded:
// the tag or the commit, and whether there were local changes.
func readBuild() monitor.Build {
	info, _ := debug.ReadBuildInfo() // every program that is built as a module has it
	return monitor.Build{Version: cmp.Or(version, info.Main.Version, "(devel)"), Go: runtime.Version()}
}
