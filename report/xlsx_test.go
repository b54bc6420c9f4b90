package report

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// TestWorkbook writes a table that needs three sheets, and another one.
func TestWorkbook(t *testing.T) {
	book, err := NewWorkbook("Audit of a.test", &About{Store: "a\x1b"})
	if err != nil {
		t.Fatal(err)
	}
	book.most = 3
	if err := book.Begin("all", "name", "number", "at"); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := book.Row("=A1\x07", int64(i), time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.Begin("other", "part"); err != nil {
		t.Fatal(err)
	}
	for _, cell := range []any{nil, Ratio(.25), Percent(12.5), URL("http://a.test/")} {
		if err := book.Row(cell); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := book.End(&file); err != nil {
		t.Fatal(err)
	}
	read, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, sheet := range read.GetSheetList() {
		rows, err := read.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%s %q\n", sheet, rows)
	}
	want := `all [["name" "number" "at"] ["=A1\\a" "0" "2026-01-02 03:04:00"] ["=A1\\a" "1" "2026-01-02 03:04:01"]]
all 2 [["name" "number" "at"] ["=A1\\a" "2" "2026-01-02 03:04:02"] ["=A1\\a" "3" "2026-01-02 03:04:03"]]
all 3 [["name" "number" "at"] ["=A1\\a" "4" "2026-01-02 03:04:04"]]
other [["part"] [] ["0.25"]]
other 2 [["part"] ["12.5"] ["http://a.test/"]]
`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if formula, err := read.GetCellFormula("all", "A2"); formula != "" || err != nil {
		t.Errorf("a text is the formula %q, %v", formula, err)
	}
}
