package report

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"skink/base/harmless"
)

// A Workbook writes an XLSX file, which spreadsheet programs open, with one table a sheet. The first
// row of a sheet has the names of the columns, and stays in view. A table with more rows than a
// sheet may have continues on another sheet. Strings are never formulas.
type Workbook struct {
	file    *excelize.File
	sheet   *excelize.StreamWriter
	flush   func() error // ends the sheet, if there is one
	name    string
	columns []any
	parts   int // number of sheets of the current table
	rows    int // number of rows of the current sheet
	most    int // maxSheetRows, except in a test
}

const maxSheetRows = 1 << 20 // rows that spreadsheet programs read of a sheet

// NewWorkbook begins a workbook. Its properties in a spreadsheet program have a title and what about says.
func NewWorkbook(title string, about *About) (*Workbook, error) {
	file := excelize.NewFile()
	said := harmless.Line(strings.Join(about.cells(), "; "))
	none := func() error { return nil }
	return &Workbook{file: file, flush: none, most: maxSheetRows}, file.SetDocProps(&excelize.DocProperties{Title: title, Description: said})
}

// Begin begins a table. Its name has at most 25 characters, none of []:*?/\, and is not that of another table.
func (b *Workbook) Begin(name string, columns ...string) error {
	b.name, b.parts, b.columns = name, 0, nil
	for _, c := range columns {
		b.columns = append(b.columns, c)
	}
	return b.next()
}

// next begins a sheet of the current table.
func (b *Workbook) next() (err error) {
	if err := b.flush(); err != nil {
		return err
	}
	name := b.name
	if b.parts++; b.parts > 1 {
		name += " " + strconv.Itoa(b.parts)
	}
	if _, err := b.file.NewSheet(name); err != nil {
		return err
	}
	if b.sheet, err = b.file.NewStreamWriter(name); err != nil {
		return err
	}
	b.flush, b.rows = b.sheet.Flush, 1
	return cmp.Or(
		b.sheet.SetColWidth(1, max(1, len(b.columns)), 24),
		b.sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}),
		b.sheet.SetRow("A1", b.columns))
}

// Row writes a row of the table; see [Table] for the types of cells. A cell of another type is left empty, as in a [Sheet].
func (b *Workbook) Row(cells ...any) error {
	if b.rows == b.most {
		if err := b.next(); err != nil {
			return err
		}
	}
	b.rows++
	line := make([]any, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case string:
			line[i] = harmless.Line(v)
		case URL:
			line[i] = harmless.Line(string(v))
		case Ratio:
			line[i] = float64(v)
		case Percent:
			line[i] = float64(v)
		case time.Time:
			line[i] = v.UTC().Format(time.DateTime)
		case int64:
			line[i] = v
		}
	}
	return b.sheet.SetRow("A"+strconv.Itoa(b.rows), line)
}

// End writes the workbook to w. It removes the temporary files of large sheets.
func (b *Workbook) End(w io.Writer) error {
	err := cmp.Or(b.flush(), b.file.DeleteSheet("Sheet1")) // a new file has this sheet
	if err == nil {
		err = b.file.Write(w)
	}
	return cmp.Or(err, b.file.Close())
}
