package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"skink/internal/tools/postgrestest"
)

// TestPassageExamples runs the examples in examples/passages before and after an edit of a site. Then the index and
// the table have the passages of a full export. A server without pgvector gets a type "vector" from the test.
func TestPassageExamples(t *testing.T) {
	needServer(t)
	t.Parallel()
	for _, program := range []string{"jq", "curl", "psql"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "site"), os.DirFS("testdata/site/nature")); err != nil {
		t.Fatal(err)
	}
	s := &server{}
	address := "http://" + serveIndex(s, "") + "/pages"
	t.Cleanup(s.close)
	found, _ := indexes.Load(s)
	database := postgrestest.Start(t).URL("")
	database, _, _ = strings.Cut(database, "?")
	script, err := filepath.Abs("examples/passages/opensearch.sh")
	if err != nil {
		t.Fatal(err)
	}
	sql := readFile(t, "examples/passages/pgvector.sql")
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if answer(t, conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == "0\n" {
		sql = []byte(strings.NewReplacer("CREATE EXTENSION IF NOT EXISTS vector;", "", "vector(384)", "vector").Replace(string(sql)))
		if _, err := conn.Exec(t.Context(), "CREATE DOMAIN vector AS real[]"); err != nil {
			t.Fatal(err)
		}
	}
	writeText(t, filepath.Join(dir, "pgvector.sql"), string(sql))
	shell := func(command string) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	check := func() (ids []string) {
		for line := range strings.Lines(string(runIn(t, dir, "export", "--store", "docs", "--chunks"))) {
			var p struct{ ID, Text string }
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, p.ID)
		}
		slices.Sort(ids)
		if got := slices.Sorted(maps.Keys(found.(*index).docs)); !slices.Equal(got, ids) {
			t.Errorf("the index has %q, want %q", got, ids)
		}
		if got := strings.Fields(answer(t, conn, "SELECT id FROM passages ORDER BY id COLLATE \"C\"")); !slices.Equal(got, ids) {
			t.Errorf("the table has %q, want %q", got, ids)
		}
		return ids
	}
	load := func() {
		shell("sh " + script + " docs " + address)
		shell("skink export --store docs --chunks --cursor passages.cursor | psql -f pgvector.sql '" + database + "'")
	}
	runIn(t, dir, "crawl", "--quiet", "--store", "docs", "site")
	load()
	before := check()
	if len(before) < 3 || found.(*index).mapping["embedding"] == nil || found.(*index).mapping["page_id"] == nil {
		t.Errorf("%d passages, mapping %v", len(before), found.(*index).mapping)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE passages SET embedding = array_fill(0.5, ARRAY[384])::real[]"); err != nil {
		t.Fatal(err)
	}
	shell("cd site; for f in fog.html; do sed 's/ the / no /g' $f > ../new; mv ../new $f; done")
	runIn(t, dir, "crawl", "--quiet", "--store", "docs", "--recrawl", "0s", "site")
	load()
	after := check()
	changed := 0
	for _, id := range after {
		if !slices.Contains(before, id) {
			changed++
		}
	}
	if got := strings.Count(answer(t, conn, "SELECT id FROM passages WHERE embedding IS NULL"), "\n"); changed == 0 || got != changed {
		t.Errorf("%d rows have no vector, want those of %d passages with other words", got, changed)
	}
}
