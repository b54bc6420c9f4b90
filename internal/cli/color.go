package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"

	"golang.org/x/term"
)

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
