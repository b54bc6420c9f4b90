package corpus

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
)

// # Tab-separated rows
//
// TSV has two dialects. In one of them, a quotation mark is an ordinary character, so a cell may be
// "Heroes" (album). In the other, a cell in quotation marks may contain tabs and line breaks, as in
// CSV. Package csv misreads the first dialect: it joins the rows after a cell that begins with a
// quotation mark. So a tabReader reads a cell as quoted only if its closing quotation mark is
// before a tab or at the end of a line, and all quotation marks in the cell are doubled. Also, lines
// that are whole rows are never joined. Otherwise the quotation marks belong to the text.

type tabReader struct {
	from *bufio.Reader
	most int       // maximum size in bytes of a line, and of a quoted cell
	next []tabLine // lines that have been read but not yet used
	used int
	tabs int    // number of tabs in the first row; 0 before it is read
	raw  string // the last row, without its line break
	err  error  // error of from, returned once next is empty
}

// A tabLine is a line without its line break. If it is too long, its text is missing.
type tabLine struct {
	text string
	long bool
}

// row returns the cells of the next nonblank row, and the number of its first line. The error wraps
// [ErrTooLong] if the line is too long. The next call then returns the next row.
func (t *tabReader) row() (cells []string, line int, err error) {
	first, err := t.read()
	for err == nil && first == (tabLine{}) {
		first, err = t.read()
	}
	line = t.used
	switch {
	case err != nil:
		return nil, line, err
	case first.long:
		return nil, line, tooLong(t.most)
	}
	t.raw = first.text
	for text := first.text; ; {
		cell, rest, more, ok := t.quoted(text)
		if !ok {
			cell, rest, more = strings.Cut(text, "\t")
		}
		cells = append(cells, cell)
		if !more {
			return cells, line, nil
		}
		text = rest
	}
}

// quoted returns the quoted cell at the beginning of text, which is the rest of a line. The cell
// may extend over further lines. The result more reports whether rest contains another cell. If
// there is no quoted cell, ok is false, and no line is consumed.
func (t *tabReader) quoted(text string) (cell, rest string, more, ok bool) {
	inside, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", "", false, false
	}
	var b strings.Builder
	var further []tabLine
	for {
		part, after, closed := strings.Cut(inside, `"`)
		b.WriteString(part)
		switch {
		case closed && strings.HasPrefix(after, `"`):
			b.WriteByte('"')
			inside = after[1:]
		case closed && (after == "" || after[0] == '\t') && !t.areRows(further):
			for _, line := range further {
				t.raw += "\n" + line.text
			}
			return b.String(), strings.TrimPrefix(after, "\t"), after != "", true
		case !closed && b.Len() < t.most:
			line, err := t.read()
			if err == nil {
				further = append(further, line)
			}
			if err == nil && !line.long {
				b.WriteByte('\n')
				inside = line.text
				continue
			}
			fallthrough
		default:
			t.next = append(further, t.next...)
			t.used -= len(further)
			return "", "", false, false
		}
	}
}

// areRows reports whether the line that a quoted cell begins in and all further lines of the cell are
// rows: each has the number of tabs of the first row. Lines of a table with one column are not.
func (t *tabReader) areRows(further []tabLine) bool {
	isRow := func(line string) bool { return line == "" || strings.Count(line, "\t") == t.tabs }
	if t.tabs == 0 || len(further) == 0 || !isRow(t.raw[strings.LastIndexByte(t.raw, '\n')+1:]) {
		return false
	}
	return !slices.ContainsFunc(further, func(l tabLine) bool { return !isRow(l.text) })
}

func (t *tabReader) read() (tabLine, error) {
	if len(t.next) > 0 {
		line := t.next[0]
		t.next = t.next[1:]
		t.used++
		return line, nil
	}
	if t.err != nil {
		return tabLine{}, t.err
	}
	raw, long, err := readLine(t.from, t.most)
	t.err = err
	if err != nil && (!errors.Is(err, io.EOF) || len(raw) == 0 && !long) {
		return tabLine{}, err
	}
	t.used++
	if long {
		return tabLine{long: true}, nil
	}
	return tabLine{text: strings.TrimSuffix(string(raw), "\r")}, nil
}
