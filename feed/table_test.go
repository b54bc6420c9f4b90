package feed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"skink/base/table"
	"skink/dedup"
	"skink/feed"
	"skink/feed/release"
	"skink/internal/tools/storetest"
	"skink/store"
)

// The columns of a table have the same values as the fields of the lines.
func TestParquet(t *testing.T) {
	s := nasty(t)
	lines, n := write(t, s, feed.Options{Filter: release.Filter{Include: release.All}})
	rows, m := write(t, s, feed.Options{Filter: release.Filter{Include: release.All}, Format: feed.Parquet})
	r, err := table.Open(bytes.NewReader(rows), int64(len(rows)))
	if err != nil || n != m {
		t.Fatalf("%d lines, %d rows, %v", n, m, err)
	}
	want := strings.Split(string(lines), "\n")
	i := 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(want[i]), &line); err != nil {
			t.Fatal(err)
		}
		for _, name := range r.Schema().Names() {
			got, _ := row.Value(name)
			if _, ok := got.([]any); ok && line[name] == nil { // a list in the table is read as a list, and the line has no field for an empty list
				continue
			}
			if at, ok := got.(int64); ok && name == "fetched_at" {
				got = time.UnixMicro(at).UTC().Format(time.RFC3339)
			}
			if fmt.Sprint(got) != fmt.Sprint(line[name]) {
				t.Errorf("row %d, %s: got %v, want %v", i, name, got, line[name])
			}
		}
		i++
	}
	if i != n {
		t.Errorf("%d rows, want %d", i, n)
	}
	nothing, n := write(t, storetest.NewMemory(), feed.Options{Format: feed.Parquet})
	if table, err := table.Open(bytes.NewReader(nothing), int64(len(nothing))); err != nil || n > 0 || len(table.Schema().Names()) == 0 {
		t.Errorf("an empty feed is a table of %d rows: %v", n, err)
	}
}

// Another program reads the same values from the table as are in the lines. SKINK_NODE_MODULES
// names a folder with hyparquet and hyparquet-compressors from npm.
func TestParquetElsewhere(t *testing.T) {
	modules := os.Getenv("SKINK_NODE_MODULES")
	node, err := exec.LookPath("node")
	if err != nil || modules == "" {
		t.Skip("no node, or SKINK_NODE_MODULES names no folder with hyparquet and hyparquet-compressors")
	}
	s := nasty(t)
	lines, _ := write(t, s, feed.Options{Filter: release.Filter{Include: release.All}})
	rows, _ := write(t, s, feed.Options{Filter: release.Filter{Include: release.All}, Format: feed.Parquet})
	dir := t.TempDir()
	name, script := filepath.Join(dir, "feed.parquet"), filepath.Join(dir, "read.mjs")
	program := fmt.Sprintf(`
import { asyncBufferFromFile, parquetReadObjects } from %q
import { compressors } from %q
for (const row of await parquetReadObjects({ file: await asyncBufferFromFile(%q), compressors }))
  console.log(JSON.stringify(row, (k, v) => typeof v === 'bigint' ? Number(v) : v ?? undefined))`,
		"file://"+modules+"/hyparquet/src/node.js", "file://"+modules+"/hyparquet-compressors/src/index.js", name)
	if err := errors.Join(os.WriteFile(name, rows, 0o666), os.WriteFile(script, []byte(program), 0o666)); err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(node, script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if got, want := fieldsOf(t, got), fieldsOf(t, lines); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// fieldsOf returns the fields of JSON lines, with times in UTC, so that they can be compared.
func fieldsOf(t *testing.T, lines []byte) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(string(lines)) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if text, ok := fields["fetched_at"].(string); ok {
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				t.Fatal(err)
			}
			fields["fetched_at"] = at.UnixMilli()
		}
		all = append(all, fields)
	}
	return all
}

// NoThin and MinWords leave out pages with too little text.
func TestThinLeftOut(t *testing.T) {
	s := storetest.NewMemory()
	for i, v := range []dedup.VerdictKind{dedup.Unique, dedup.Thin, dedup.Unique, dedup.Thin} {
		commit(t, s, store.Record{URL: fmt.Sprintf("http://a.test/%d", i), Kind: store.Page, Judged: store.Judged{Verdict: v}, Fetch: store.Fetch{Words: 10 * i}}, "words")
	}
	for want, opt := range map[int]feed.Options{4: {}, 3: {Filter: release.Filter{MinWords: 10}}, 2: {Filter: release.Filter{NoThin: true}}, 1: {Filter: release.Filter{NoThin: true, MinWords: 20}}, 0: {Filter: release.Filter{MinWords: 31}}} {
		if _, n := write(t, s, opt); n != want {
			t.Errorf("%+v: %d pages, want %d", opt, n, want)
		}
	}
}
