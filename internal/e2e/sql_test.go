package e2e

import (
	"database/sql/driver"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"skink/internal/cli"
	"skink/internal/tools/postgrestest"
)

// queries returns the SQL queries in a document, by the heading above each.
func queries(t *testing.T, file string) (headings []string, sql map[string]string) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sql = map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^#+ ([^\n]*)$|^```sql\n(.*?)^```").FindAllStringSubmatch(string(doc), -1) {
		if m[1] != "" {
			headings = append(headings, m[1])
		} else {
			sql[headings[len(headings)-1]] = m[2]
		}
	}
	return headings, sql
}

// twoHosts serves a guide on one host, a copy of it on another, and a broken link on each.
func twoHosts(t *testing.T) (first, second string) {
	t.Helper()
	words := func(of string) string {
		var b strings.Builder
		for n := range 80 {
			fmt.Fprintf(&b, "%s%d ", of, n)
		}
		return b.String()
	}
	site := func(own string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch r.URL.Path {
			case "/":
				fmt.Fprintf(w, "<title>Home</title><main><p>%s</p><a href=/guide/>Guide</a> <a href=/none>none</a></main>", words(own))
			case "/guide/":
				fmt.Fprintf(w, "<title>Guide</title><main><p>The licence: %s</p><a href=/>Home</a></main>", words("guide"))
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	return site("one"), site("two")
}

// TestQueries runs each query in docs/postgres.md on the store of a crawl, as a role that has only
// the rights that the last query grants. With that role, the commands that read a store must work,
// and a crawl must fail.
func TestQueries(t *testing.T) {
	needServer(t)
	t.Parallel()
	server := postgrestest.Start(t)
	store := server.URL("docs")
	first, second := twoHosts(t)
	run(t, "crawl", "--store", store, "--quiet", "--delay", "0", "--per-host", "1", "--sitemaps", "off", "--learn", "off", first+"/", second+"/")

	headings, sql := queries(t, "docs/postgres.md")
	if len(headings) != 13 || len(sql) != 13 {
		t.Fatalf("docs/postgres.md has %d headings and %d pieces of SQL, want 13", len(headings), len(sql))
	}
	const role = "A read-only role"
	if err := server.Exec(t.Context(), strings.ReplaceAll(sql[role], "NAME", "docs")); err != nil {
		t.Fatal(err)
	}
	reader := strings.Replace(store, "postgres://"+postgrestest.User+"@", "postgres://reader@", 1)
	conn, err := pgx.Connect(t.Context(), strings.Replace(reader, "?schema=docs", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), strings.ReplaceAll(sql[headings[0]], "NAME", "docs")); err != nil {
		t.Fatal(err)
	}
	one, two := strings.TrimPrefix(first, "http://"), strings.TrimPrefix(second, "http://")
	want := map[string][]string{ // expected lines of the result, with spaces between the columns
		"Pages by host and verdict":          {one + " unique 2 162", two + " unique 1 80", two + " exact 1 82"},
		"Share of duplicates by host":        {two + " 2 1 50.0", one + " 2 0 0"},
		"The largest clusters":               {first + "/guide/ 2"},
		"The copies of one page":             {"exact 1 " + second + "/guide/"},
		"Hosts that repeat another host":     {two + " " + one + " 1"},
		"Pages that changed in the last day": {"new * " + first + "/guide/", "new * " + second + "/"},
		"Broken links with their sources":    {first + "/none status 404 " + first + "/", second + "/none status 404 " + second + "/"},
		"Growth by hour":                     {"* 4 3"},
		"Slow hosts":                         {one + " 3 *", two + " 3 *"},
		"Pages that contain a word":          {first + "/guide/ Guide"},
		"URLs not fetched yet":               nil,
	}
	for _, heading := range headings[1 : len(headings)-1] {
		lines, ok := want[heading]
		if !ok {
			t.Errorf("nothing is wanted of %q", heading)
			continue
		}
		got := answer(t, conn, sql[heading])
		if lines == nil && got != "" {
			t.Errorf("%s: the answer is\n%s\nwant none", heading, got)
		}
		for _, line := range lines {
			pattern := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(line), `\*`, ".*") + "$"
			if !regexp.MustCompile(pattern).MatchString(got) {
				t.Errorf("%s: the answer is\n%s\nwithout the line %q", heading, got, line)
			}
		}
	}

	for _, command := range [][]string{{"report"}, {"report", "--complete"}, {"report", "--about", "audit"}, {"export"}, {"status"}} {
		run(t, append(command, "--store", reader)...)
	}
	var said strings.Builder
	args := []string{"crawl", "--store", reader, "--quiet", "--add", first + "/more"}
	if code := cli.Run(t.Context(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &said}); code != 1 || !strings.Contains(said.String(), "permission denied") {
		t.Errorf("a crawl by a role that may only read ends with %d: %s", code, &said)
	}
}

// TestManyMachines runs the commands in docs/many-machines.md, and checks their results.
func TestManyMachines(t *testing.T) {
	t.Parallel()
	r := runPage(t, "docs/many-machines.md")
	kept, err := os.ReadFile(filepath.Join(r.dir, "only-in-b.jsonl"))
	if got := strings.Count(string(kept), "\n"); err != nil || got != 2 || strings.Count(string(kept), r.com+"/") < 2 {
		t.Errorf("of the second store's pages %d are kept, want 2: %v\n%s", got, err, kept)
	}
	if out, _ := run(t, "report", "--store", r.server.URL("news")); !strings.Contains(out, "unique    3") {
		t.Errorf("the report of what a worker crawled is\n%s", out)
	}
}

// answer returns the rows of a query, one on each line.
func answer(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if i > 0 {
				b.WriteByte(' ')
			}
			if n, ok := v.(driver.Valuer); ok { // the argument is a numeric value
				v, _ = n.Value()
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	if rows.Err() != nil {
		t.Fatalf("%s: %v", sql, rows.Err())
	}
	return b.String()
}
