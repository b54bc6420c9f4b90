package audit_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/xuri/excelize/v2"

	"skink/base/harmless"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

func write(t testing.TB, a *audit.Audit, o audit.Output) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := audit.Write(context.Background(), &b, a, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	golden(t, read(t, filled(t, shop())), map[string]audit.Output{
		"shop.txt":      {},
		"shop.json":     {Format: report.JSON, Top: 2},
		"shop.csv":      {Format: report.CSV},
		"shop.html":     {Format: report.HTML, Top: 6},
		"broken.txt":    {About: "broken"},
		"broken.csv":    {Format: report.CSV, About: "broken"},
		"redirects.csv": {Format: report.CSV, About: "redirects"},
		"titles.csv":    {Format: report.CSV, About: "titles"},
		"repeated.csv":  {Format: report.CSV, About: "titles.repeated", Top: 1},
	})
}

// TestGoldenSince writes an audit that is compared with the audit of an earlier crawl.
func TestGoldenSince(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, visit{path: "/"}, visit{path: "/worse"}, visit{path: "/better", title: "-"}, visit{path: "/same", title: "-"}, visit{path: "/unseen", title: "-"})
	keep(t, s, firstCrawl.Add(time.Hour))
	crawled(t, s, 1, visit{path: "/", links: []string{"/gone"}}, visit{path: "/worse", title: "-"}, visit{path: "/better"}, visit{path: "/same", title: "-"}, visit{path: "/unseen", kind: store.Error, status: 503}, visit{path: "/gone", kind: store.Error, status: 404})
	golden(t, since(t, s), map[string]audit.Output{
		"since.txt":        {},
		"since.json":       {Format: report.JSON},
		"since.csv":        {Format: report.CSV},
		"since.html":       {Format: report.HTML},
		"since-titles.csv": {Format: report.CSV, About: "titles"},
	})
}

// golden compares the outputs of an audit with golden files.
func golden(t *testing.T, a *audit.Audit, outputs map[string]audit.Output) {
	t.Helper()
	for name, o := range outputs {
		file := filepath.Join("testdata", name)
		got := bytes.Replace(write(t, a, o), []byte(report.Style), nil, 1) // the style sheet is that of all reports, and may change without this test
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs (go test -update accepts it); got:\n%s", file, got)
		}
	}
}

// hostile is a text that tries to harm a terminal, a browser and a spreadsheet.
const hostile = "=HYPERLINK(\"x\") \x1b[2J\u009b31m\u202e</title><script>alert(1)</script> {{.}} caf\xe9\r\n\tforged"

// hostileShop returns the shop with hostile in each text that pages and servers can choose.
func hostileShop() []planted {
	all := shop()
	for i := range all {
		r := &all[i].Record
		r.Title, r.Description, r.Author, r.Lang, r.ContentType = hostile, hostile, hostile, hostile, "text/html"+hostile
		r.H1, r.PublishedAt, r.ModifiedAt, r.Detail, r.Bounds = []string{hostile, hostile}, hostile, hostile, hostile, hostile
		if r.Problem != "" {
			r.Problem = hostile
		}
		if r.Location != "" && i%2 == 0 {
			r.Location = "javascript:alert(1)//" + hostile
		}
		if i%5 == 3 {
			r.CanonicalURL, r.DuplicateOf = "javascript:alert(2)//"+hostile, "data:text/html,"+hostile
		}
		for k := range r.Alternates {
			r.Alternates[k].Lang = hostile
		}
		for k := range all[i].links {
			path, _, _ := strings.Cut(all[i].links[k], " ")
			all[i].links[k] = path + " " + hostile
		}
	}
	bad := good("/bad")
	bad.URL = "javascript:alert(3)//" + hostile
	return append(all, bad)
}

// TestHostile checks that hostile texts of a site do no harm in any format of an audit.
func TestHostile(t *testing.T) {
	checkHostile(t, read(t, filled(t, hostileShop())))

	s := filled(t, hostileShop())
	keep(t, s, firstCrawl)
	check(t, store.BeginCrawl(t.Context(), s, firstCrawl))
	checkHostile(t, since(t, s))
}

func checkHostile(t *testing.T, a *audit.Audit) {
	t.Helper()
	names := append([]string{""}, audit.ListNames()...)
	for _, about := range names {
		checkWorkbook(t, a, about)
		for _, f := range []report.Format{report.Text, report.JSON, report.CSV, report.HTML} {
			out := write(t, a, audit.Output{Format: f, About: about, Top: 50})
			for _, r := range string(out) {
				if harmless.Dangerous(r) && r != '\n' && r != '\t' && !(r == '\r' && f == report.CSV) {
					t.Errorf("%q as %s: %q comes out", about, f, r)
					break
				}
			}
			switch f {
			case report.JSON:
				if !json.Valid(out) {
					t.Errorf("%q: no JSON", about)
				}
			case report.CSV:
				checkCSV(t, about, out)
			case report.HTML:
				checkHTML(t, about, out)
			}
		}
	}
}

// checkWorkbook checks that no cell of a workbook has a character that does harm, or a formula.
func checkWorkbook(t *testing.T, a *audit.Audit, about string) {
	t.Helper()
	file, err := excelize.OpenReader(bytes.NewReader(write(t, a, audit.Output{Format: report.XLSX, About: about, Top: 50})))
	if err != nil {
		t.Fatal(err)
	}
	for _, sheet := range file.GetSheetList() {
		rows, err := file.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for y, row := range rows {
			for x, cell := range row {
				at, err := excelize.CoordinatesToCellName(x+1, y+1)
				if err != nil {
					t.Fatal(err)
				}
				if formula, err := file.GetCellFormula(sheet, at); formula != "" || err != nil || strings.ContainsFunc(cell, harmless.Dangerous) {
					t.Errorf("%s, %s: cell %q, formula %q, %v", sheet, at, cell, formula, err)
				}
			}
		}
	}
}

func checkCSV(t *testing.T, about string, out []byte) {
	t.Helper()
	table, marked := bytes.CutPrefix(out, []byte("\uFEFF"))
	if !marked || !bytes.HasSuffix(table, []byte("\r\n")) || bytes.Count(table, []byte("\n")) != bytes.Count(table, []byte("\r\n")) {
		t.Errorf("%q: not as spreadsheets want it", about)
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Errorf("%q: %v", about, err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("%q: a formula: %q", about, cell)
			}
		}
	}
}

// TestWorkbook compares the sheets of a workbook with the CSV tables of the same audit.
func TestWorkbook(t *testing.T) {
	a := read(t, filled(t, shop()))
	sheets := func(about string) map[string]int {
		file, err := excelize.OpenReader(bytes.NewReader(write(t, a, audit.Output{Format: report.XLSX, About: about})))
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		for _, name := range file.GetSheetList() {
			all, err := file.GetRows(name)
			if err != nil {
				t.Fatal(err)
			}
			rows[name] = len(all)
		}
		return rows
	}
	lines := func(about string) int {
		rows, err := csv.NewReader(bytes.NewReader(write(t, a, audit.Output{Format: report.CSV, About: about}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	got := sheets("")
	if got["audit"] != lines("") || len(got) < 10 {
		t.Errorf("the overview has %d rows, want %d; the workbook has %d sheets", got["audit"], lines(""), len(got))
	}
	for _, f := range a.Findings() {
		if name := f.FullName(); f.Count()+f.Apart() > 0 && got[name] != lines(name) {
			t.Errorf("sheet %s has %d rows, want %d", name, got[name], lines(name))
		}
	}
	if got := sheets("pages"); len(got) != 1 || got["pages"] != lines("pages") {
		t.Errorf("the workbook of all pages has %v, want %d rows", got, lines("pages"))
	}
	if got := sheets("broken.gone"); len(got) != 1 || got["broken.gone"] != lines("broken.gone") {
		t.Errorf("the workbook of broken links has %v, want %d rows", got, lines("broken.gone"))
	}
}

// checkHTML checks that a page has only the elements and attributes of two lists. None of these
// runs code, and only href can refer to something, which must be a link to https or within the
// page.
func checkHTML(t *testing.T, about string, out []byte) {
	t.Helper()
	elements := strings.Fields(`html head meta title style body header main section h1 h2 p a bdi b small div span ul li
		table thead tbody tr th td details summary svg rect wbr`)
	attributes := strings.Fields("x y width height viewBox preserveAspectRatio aria-hidden focusable role lang charset http-equiv content name href rel scope class colspan aria-label aria-labelledby id data-label tabindex")
	doc, err := html.Parse(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(elements, n.Data) {
			t.Errorf("%q: element <%s>", about, n.Data)
		}
		for _, at := range n.Attr {
			if !slices.Contains(attributes, at.Key) {
				t.Errorf("%q: <%s %s=%q>", about, n.Data, at.Key, at.Val)
			}
			if at.Key == "href" && !strings.HasPrefix(at.Val, "https://") && !strings.HasPrefix(at.Val, "#") {
				t.Errorf("%q: a link to %q", about, at.Val)
			}
		}
	}
}

// TestRest checks that a report which shows only some rows gives the number of the others and the
// command to see them.
func TestRest(t *testing.T) {
	a := read(t, filled(t, shop()))
	for _, c := range []struct {
		o    audit.Output
		want string
	}{
		{audit.Output{About: "pages", Top: 4}, "and 75 more: skink report --about pages --top 79"},
		{audit.Output{About: "pages", Top: 4, Format: report.HTML}, "75 more rows not shown here"},
		{audit.Output{}, "and 2 more: skink report --about redirects.linked --top 5"},
	} {
		if out := write(t, a, c.o); !bytes.Contains(out, []byte(c.want)) {
			t.Errorf("%+v does not say %q:\n%s", c.o, c.want, out)
		}
	}
}

// TestError checks that Write fails if its context is canceled, or if the list is unknown.
func TestError(t *testing.T) {
	a := read(t, filled(t, shop()))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, f := range []report.Format{report.JSON, report.CSV} {
		if err := audit.Write(ctx, &bytes.Buffer{}, a, audit.Output{Format: f, About: "pages"}); err == nil {
			t.Errorf("%s: no error", f)
		}
	}
	if _, err := audit.Read(ctx, storetest.NewMemory(), audit.Options{}); err != nil {
		t.Errorf("an empty store: %v", err)
	}
	if err := audit.Write(context.Background(), &bytes.Buffer{}, a, audit.Output{About: "none"}); err == nil || !strings.Contains(err.Error(), "must be one of broken, ") {
		t.Errorf("a name that is none: %v", err)
	}
}
