package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"skink/base/harmless"
)

// # Tables
//
// Every format writes a list as a [Table]. The type of a cell determines how each format shows the
// cell. The types are string, [URL], int64, [Ratio], [Percent] and time.Time. An empty cell is nil.
// Each format has one way to write a table: [Table.WriteText], [ObjectWriter] for JSON, [Sheet] for
// CSV, and the template "table" for HTML.

// A Table is a list of rows that can be written in every format.
type Table struct {
	Columns []Column
	Rows    []Row
	LinkTo  func(url string) PageLink // returns the link that HTML shows for a URL; nil means a link to the URL itself
}

// A Column describes a column of a table.
type Column struct {
	Name  string // name in JSON and CSV
	Title string // title in text and HTML
	Brief bool   // whether text and HTML, which have room for only some columns, show the column
	Width int    // minimum width in text, in terminal columns; 0 means the width of the widest cell, with long cells clipped
}

// A Row holds the cells of a table row, in the order of the columns.
type Row struct {
	Cells []any
	Apart string // reason why the row is listed but not counted; "" if it is counted
	Notes []Note // lines below the row in text and HTML
}

// A Note is a line below a row. It shows Lead, then URL, then Quote in quotation marks.
type Note struct {
	Lead  string
	URL   string // "" means none
	Quote string // quotation from a page; "" means none
}

// A URL is a cell with a URL, shown in HTML as a link where possible.
type URL string

// A Ratio is a cell with a number from 0 to 1.
type Ratio float64

// A Percent is a cell with a number from 0 to 100.
type Percent float64

// A hostCell is a cell with a host name. Unlike other strings, it is not shortened in text.
type hostCell string

const (
	cellWidth = 60  // maximum width of a cell in text, in terminal columns
	urlWidth  = 80  // maximum width of a URL in text, if another cell follows it
	cellShown = 200 // maximum length of a cell in HTML, in runes
)

// brief removes empty columns, and columns that are not Brief.
func (t Table) brief() Table {
	var shown []int
	for i, c := range t.Columns {
		if c.Brief && slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i] != nil }) {
			shown = append(shown, i)
		}
	}
	t.Columns, t.Rows = pick(t.Columns, shown), slices.Clone(t.Rows)
	for i := range t.Rows {
		t.Rows[i].Cells = pick(t.Rows[i].Cells, shown)
	}
	return t
}

func pick[T any](all []T, places []int) []T {
	picked := make([]T, len(places))
	for i, at := range places {
		picked[i] = all[at]
	}
	return picked
}

// WriteText writes the table as text, with the column titles on the first line. Each line begins
// with indent, and cells are separated by gap. For a table without rows, it writes nothing.
func (t Table) WriteText(w io.Writer, indent, gap string) {
	if t = t.brief(); len(t.Rows) == 0 {
		return
	}
	lines := make([][]string, len(t.Rows)+1)
	widths := make([]int, len(t.Columns))
	for c, column := range t.Columns {
		for i := range lines {
			cell := strings.ToLower(column.Title)
			if i > 0 {
				cell = cellText(t.Rows[i-1].Cells[c])
				if _, isURL := t.Rows[i-1].Cells[c].(URL); isURL && c < len(t.Columns)-1 {
					cell = clipMiddle(cell, urlWidth)
				}
			}
			lines[i] = append(lines[i], cell)
			widths[c] = max(widths[c], min(Width(cell), urlWidth))
		}
		if column.Width > 0 {
			widths[c] = column.Width
		}
	}
	for i, cells := range lines {
		for c, cell := range cells {
			pad := strings.Repeat(" ", max(0, widths[c]-Width(cell)))
			if isNumber(t.Rows[0].Cells[c]) {
				cells[c] = pad + cell
			} else {
				cells[c] = cell + pad
			}
		}
		line := indent + strings.Join(cells, gap)
		if i > 0 && t.Rows[i-1].Apart != "" {
			line += "  (" + t.Rows[i-1].Apart + ")"
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		if i > 0 {
			for _, note := range t.Rows[i-1].Notes {
				fmt.Fprintf(w, "%s    %s%s", indent, note.Lead, harmless.Line(note.URL))
				if note.Quote != "" {
					fmt.Fprint(w, "  ", quoted(note.Quote, cellWidth))
				}
				fmt.Fprintln(w)
			}
		}
	}
}

// quoted returns a quotation from a page on one line, in quotation marks. It has at most the given
// number of terminal columns, not counting the quotation marks.
func quoted(s string, columns int) string {
	return `"` + strings.ReplaceAll(harmless.Line(Clip(s, columns)), `"`, `\"`) + `"`
}

func isNumber(cell any) bool {
	switch cell.(type) {
	case int64, Ratio, Percent:
		return true
	}
	return false
}

func cellText(cell any) string {
	switch v := cell.(type) {
	case string:
		return harmless.Line(Clip(v, cellWidth))
	case URL:
		return harmless.Line(string(v))
	case hostCell:
		return hostName(string(v))
	case int64:
		return Grouped(v)
	case Ratio:
		return Decimals(float64(v), 3)
	case Percent:
		return strconv.FormatFloat(float64(v), 'f', 1, 64) + "%"
	case time.Time:
		return v.Format(time.DateTime)
	}
	return ""
}

// cellCSV defuses strings that a spreadsheet would interpret as formulas.
func cellCSV(cell any) string {
	switch v := cell.(type) {
	case string:
		return harmless.Cell(v)
	case URL:
		return harmless.Cell(string(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case Ratio:
		return Decimals(float64(v), 2)
	case Percent:
		return Decimals(float64(v), 2)
	case time.Time:
		return v.Format(time.DateTime)
	}
	return ""
}

// Fields is a JSON object whose members keep their order. Members with the value nil are omitted.
type Fields []Field

// A Field is a member of a JSON object.
type Field struct {
	Name  string
	Value any
}

// AppendFields appends the cells of a row as members of a JSON object.
func (t Table) AppendFields(all Fields, cells []any) Fields {
	for i, v := range cells {
		if at, ok := v.(time.Time); ok {
			v = at.Format(time.RFC3339)
		}
		all = append(all, Field{t.Columns[i].Name, v})
	}
	return all
}

type cellHTML struct {
	Column string
	Class  string // CSS class: "number", "text" or "page"
	Text   string
	URL    string // target of the cell's link; "" if there is no link
	Row    *Row   // row whose notes are shown in this cell; set only in the row's first cell with a URL
}

type tableHTML struct {
	Head []cellHTML
	Rows [][]cellHTML
}

// HTML returns the table as data for the HTML template "table".
func (t Table) HTML() (all tableHTML) {
	t = t.brief()
	for _, c := range t.Columns {
		all.Head = append(all.Head, cellHTML{Text: c.Title})
	}
	for k, row := range t.Rows {
		var cells []cellHTML
		about := &t.Rows[k]
		for i, v := range row.Cells {
			c := cellHTML{Column: t.Columns[i].Title, Class: "number"}
			switch v := v.(type) {
			case URL:
				c.Class, c.Text, c.URL, c.Row, about = "page", string(v), string(v), about, nil
			case string:
				c.Class, c.Text = "text", plain(Clip(v, cellShown))
			default:
				c.Text = cellText(v)
			}
			if c.Text != "" && all.Head[i].Class == "" {
				all.Head[i].Class = c.Class
			}
			cells = append(cells, c)
		}
		all.Rows = append(all.Rows, cells)
	}
	return all
}

// Link returns the link to show for a URL of the table in HTML.
func (t Table) Link(url string) PageLink {
	if t.LinkTo != nil {
		return t.LinkTo(url)
	}
	return LinkTo(url)
}
