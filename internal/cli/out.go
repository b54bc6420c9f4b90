package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"skink/frontier"
	"skink/internal/bucket"
	"skink/internal/corpus"
	"skink/internal/output"
)

// outputFlag is the annotation of a flag that names an output, or a file that the command reads. Its
// value is the kind of file.
const outputFlag = "output"

const (
	inputFile    = "input"
	fileOutput   = "file"
	folderOutput = "folder" // a new folder, whose files all belong to the output
	sharedFolder = "shared" // a folder that may contain other files
)

// isOutput marks a flag as the name of an output, so that it is claimed before the command runs.
// The output may be the same file as that of the flag mayShare.
func isOutput(flags *pflag.FlagSet, name, kind, mayShare string) {
	_ = flags.SetAnnotation(name, outputFlag, []string{kind, mayShare}) // fails only if the flag does not exist
}

// claimOutputs declares the files that the command reads because of its flags or its configuration
// file, claims the outputs that the flags name, and reserves the folder of the store. A
// default output that another flag has claimed is left out.
func claimOutputs(flags *pflag.FlagSet, files *output.Files) (err error) {
	file := configOf(flags).file
	_ = files.Input(append(file.Read, file.Name)...) // nothing is claimed yet
	if f := flags.Lookup("store"); f != nil {
		if name := f.Value.String(); name != "" && !frontier.HasScheme(name) {
			err = files.ClaimStore(name)
		}
	}
	flags.Visit(func(f *pflag.Flag) {
		if as := f.Annotations[outputFlag]; err == nil && as != nil {
			err = claim(files, "--"+f.Name, f.Value.String(), as[0], as[1])
		}
	})
	if f := flags.Lookup("out"); err == nil && f != nil && !f.Changed {
		_, _ = files.Claim("--out", f.DefValue, "")
	}
	return err
}

func claim(files *output.Files, use, name, kind, mayShare string) (err error) {
	switch {
	case name == "" && use == "--out":
		return usagef("--out is empty: specify a file, or - for standard output")
	case name == "", frontier.HasScheme(name) && !bucket.IsAddress(name): // no output, or a search index
	case kind == inputFile:
		err = files.Input(name)
	case kind == fileOutput:
		_, err = files.Claim(use, name, mayShare)
	default:
		_, err = files.ClaimFolder(use, name, kind == folderOutput)
	}
	return err
}

type outFlags struct {
	out    string
	asItIs bool // whether to leave the data uncompressed, whatever the file's name, because it is already compressed
}

func addOutFlags(flags *pflag.FlagSet) *outFlags {
	f := &outFlags{}
	flags.StringVar(&f.out, "out", "-", "`FILE` write to this file or to s3://BUCKET/KEY, compressed if the name ends in .gz or .zst; - means standard output")
	isOutput(flags, "out", fileOutput, "")
	return f
}

// standsAlone declares the inputs of a command, and claims standard output for its result.
func standsAlone(con Console, inputs []string) error {
	err := con.files.Input(inputs...)
	if err == nil {
		_, err = con.files.Claim("the printed result", "-", "")
	}
	return asUsage(err)
}

// write calls the write function with a writer to the --out file or object, or to standard output.
// The file or object gets its name only when it is complete.
func (f *outFlags) write(ctx context.Context, con Console, write func(w io.Writer) error) error {
	to := con.files.Of("--out")
	if to == nil {
		return usagef("another flag writes to standard output: use --out to specify a file")
	}
	err := to.Write(ctx, func(w io.Writer) error { return f.writeSome(to, w, write) })
	if errors.Is(err, errNothing) {
		fmt.Fprintf(con.Err, "nothing to write: %s is unchanged\n", f.out)
		return nil
	}
	return err
}

// count is like write, and returns the number that the write function returns.
func (f *outFlags) count(ctx context.Context, con Console, write func(w io.Writer) (int, error)) (n int, err error) {
	err = f.write(ctx, con, func(w io.Writer) (err error) {
		n, err = write(w)
		return err
	})
	return n, err
}

// errNothing means that the output is empty and would have replaced an existing file, which is
// kept.
var errNothing = errors.New("nothing to write")

// writeSome calls write with a writer that compresses into w if the name of the output file ends
// with .gz or .zst. It returns errNothing if nothing was written and the output is an existing file
// or an object.
func (f *outFlags) writeSome(to *output.File, w io.Writer, write func(w io.Writer) error) error {
	name := f.out
	if f.asItIs {
		name = ""
	}
	pack := corpus.Pack(w, name)
	c := &countingWriter{to: pack}
	if err := write(c); err != nil {
		return err
	}
	if c.n == 0 && to.Exists() {
		return errNothing
	}
	return pack.Close()
}

type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// # Colors
//
// On a terminal, verdicts and severities have the colors of the view, where a line or a column of a
// table begins with them. A [harmless.Guard] escapes whatever could control the terminal, so a painter
// adds the colors behind the guard. A page cannot choose a color: at most, its words get one of these.

// colors are the foreground colors of words as parameters of the escape sequence SGR.
var colors = map[string]string{
	"errors": "31", "warnings": "33", "notes": "36", "ok": "32",
	"exact": "31", "near": "33", "unique": "32", "thin": "90",
}

var colored = regexp.MustCompile(`(?m)((?:^ *|  )(errors|warnings|notes|ok|exact|near|unique|thin))(:|  | \d|$)`)

// painted returns a writer to a file that adds colors if the file is a terminal that shows colors. The
// environment variables TERM=dumb and NO_COLOR (no-color.org) switch them off.
func painted(f *os.File, to io.Writer) io.Writer {
	if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" || os.Getenv("NO_COLOR") != "" {
		return to
	}
	return painter{to}
}

type painter struct{ to io.Writer }

func (p painter) Write(b []byte) (int, error) {
	lines := colored.ReplaceAllFunc(b, func(found []byte) []byte {
		word := colored.FindSubmatch(found)[2]
		return bytes.Replace(found, word, []byte("\x1b["+colors[string(word)]+"m"+string(word)+"\x1b[m"), 1)
	})
	if _, err := p.to.Write(lines); err != nil {
		return 0, err
	}
	return len(b), nil
}
