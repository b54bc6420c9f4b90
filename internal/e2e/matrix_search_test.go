package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

var wordsOfSecret = regexp.MustCompile(`[A-Za-z0-9]{10,}`)

// needles returns the forms in which a secret may occur: each part as it is, in hexadecimal digits,
// and in base64 at each of the three positions that it may have there.
func (s *secret) needles() (all []string) {
	for _, part := range wordsOfSecret.FindAllString(s.value, -1) {
		all = append(all, part, hex.EncodeToString([]byte(part)))
		for shift := range 3 {
			text := base64Of(strings.Repeat("x", shift) + part)
			all = append(all, text[(8*shift+5)/6:len(text)-4]) // the characters that depend only on the part
		}
	}
	return all
}

// in reports whether a text contains a part of the secret.
func (s *secret) in(text []byte) bool {
	return slices.ContainsFunc(s.needles(), func(n string) bool { return bytes.Contains(text, []byte(n)) })
}

// search looks for secrets in all files of the crawl, and in all that the commands say and write. It
// looks for the text of private pages in everything that leaves the store.
func (w *matrixWeb) search(t *testing.T) {
	outputs := w.outputs(t)
	all := maps.Clone(outputs)
	all["output of the crawls, and metrics"] = w.said.Bytes()
	for name, args := range map[string][]string{
		"report":               {"report"},
		"report, html":         {"report", "--format", "html"},
		"report, json":         {"report", "--format", "json"},
		"report, csv":          {"report", "--format", "csv"},
		"report, audit":        {"report", "--about", "audit", "--format", "json"},
		"report, complete":     {"report", "--complete"},
		"report, changes":      {"report", "--changes"},
		"status":               {"status", "--urls", "all"},
		"status, json":         {"status", "--urls", "all", "--format", "json"},
		"export with private":  {"export", "--include", "all", "--with-private", "--markdown"},
		"links with private":   {"export", "--format", "links", "--out", "with-private.jsonl", "--with-private"},
		"archive with private": {"export", "--format", "wacz", "--out", "with-private.wacz", "--with-private"},
	} {
		all[name] = w.run(t, args...)
	}
	for name, content := range w.files(t) {
		all[name] = content
	}
	if w.database != nil {
		all["database"] = w.rows(t)
	}
	found, left, bytesSearched := &few{T: t}, &few{T: t}, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for where, content := range unpack(name, all[name]) {
			bytesSearched += len(content)
			for _, s := range w.secrets {
				if s.in(content) {
					found.Errorf("%s contains %s: %s", where, s.name, s.around(content))
				}
			}
		}
	}
	t.Logf("searched %d bytes of %d files and outputs", bytesSearched, len(all))
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		public := false
		for where, content := range unpack(name, outputs[name]) {
			public = public || bytes.Contains(content, []byte(publicWord))
			if at := bytes.Index(content, []byte(privateWord)); at >= 0 {
				left.Errorf("%s contains the text of a private page: %q", where, content[max(0, at-150):min(len(content), at+50)])
			}
		}
		if !public && !strings.Contains(name, "links") {
			t.Errorf("%s lacks the text of public pages, so the search finds nothing there", name)
		}
	}
	if !bytes.Contains(all["export with private"], []byte(privateWord)) {
		t.Errorf("an export with private pages has none:\n%.3000s", all["export with private"])
	}
}

// around returns the place in a text where a secret was found.
func (s *secret) around(text []byte) string {
	for _, n := range s.needles() {
		if at := bytes.Index(text, []byte(n)); at >= 0 {
			return fmt.Sprintf("%q", text[max(0, at-100):min(len(text), at+len(n)+20)])
		}
	}
	return ""
}

// outputs returns everything that leaves the store by way of exports and feeds.
func (w *matrixWeb) outputs(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	all["live feed"] = readFile(t, filepath.Join(w.dir, "feed.jsonl"))
	for name, args := range map[string][]string{
		"out.jsonl":    {"--include", "all", "--markdown"},
		"out.parquet":  {"--include", "all", "--format", "parquet"},
		"links.csv":    {"--format", "links"},
		"chunks.jsonl": {"--chunks"},
		"out.wacz":     {"--format", "wacz"},
	} {
		w.run(t, append([]string{"export", "--out", "exported-" + name}, args...)...)
		all[name] = readFile(t, filepath.Join(w.dir, "exported-"+name))
	}
	w.execute(t, "crawl", "--config", "from.toml", "--store", "again", "--markdown", "--from", "archive", "--quiet")
	again := filepath.Join(w.dir, "again")
	all["export of a crawl from the archive"] = w.run(t, "export", "--store", again, "--include", "all", "--markdown")
	return all
}

func readFile(t *testing.T, name string) []byte {
	content, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
	}
	return content
}

// run runs a command in this process, on the store of the crawl unless the command names another. It
// returns the output and the messages.
func (w *matrixWeb) run(t *testing.T, args ...string) []byte {
	if !slices.Contains(args, "--store") {
		args = append(args, "--store", w.store)
	}
	if i := slices.Index(args, "--out"); i >= 0 {
		args[i+1] = filepath.Join(w.dir, args[i+1])
	}
	out, said := run(t, args...)
	return []byte(out + said)
}

// execute runs a command with the environment of the crawl.
func (w *matrixWeb) execute(t *testing.T, args ...string) []byte {
	cmd := exec.Command("skink", args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// files returns all files of the crawl, except those that the user wrote secrets into.
func (w *matrixWeb) files(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	err := filepath.WalkDir(w.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		short, err := filepath.Rel(w.dir, name)
		if err == nil && short != "skink.toml" && short != "from.toml" && short != "cookies.txt" {
			all[short] = readFile(t, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// rows returns all tables of the database as text, with byte strings decoded.
func (w *matrixWeb) rows(t *testing.T) []byte {
	conn, err := w.database.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	query := func(sql string) (text string) {
		if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Error(err)
		}
		return text
	}
	var all strings.Builder
	for table := range strings.FieldsSeq(query("SELECT string_agg(table_name, ' ') FROM information_schema.tables WHERE table_schema = 'web' AND table_type = 'BASE TABLE'")) {
		all.WriteString(query(fmt.Sprintf("SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM web.%q t", table)))
	}
	if all.Len() < 1000 {
		t.Errorf("the database has only %d bytes", all.Len())
	}
	return regexp.MustCompile(`\\x[0-9a-f]+`).ReplaceAllFunc([]byte(all.String()), func(digits []byte) []byte {
		decoded, err := hex.AppendDecode(nil, bytes.TrimPrefix(digits, []byte(`\x`)))
		if err != nil {
			return digits
		}
		return decoded
	})
}

// unpack returns a content and everything compressed in it: the members of ZIP files, the values of
// Parquet files, and each gzip member and zstd frame wherever it begins.
func unpack(name string, content []byte) func(yield func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		if !yield(name, content) {
			return
		}
		var inside bytes.Buffer
		switch {
		case bytes.HasPrefix(content, []byte("PK\x03\x04")):
			archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
			if err != nil {
				return
			}
			for _, f := range archive.File {
				member, err := f.Open()
				if err != nil {
					continue
				}
				text, _ := io.ReadAll(member)
				for where, part := range unpack(name+"/"+f.Name, text) {
					if !yield(where, part) {
						return
					}
				}
			}
			return
		case bytes.HasPrefix(content, []byte("PAR1")):
			parquetValues(&inside, content)
		default:
			frames(&inside, content)
		}
		if inside.Len() > 0 {
			yield(name+", unpacked", inside.Bytes())
		}
	}
}

// frames writes the contents of all gzip members and zstd frames in a text. A read may fail at the
// end of a member, because other data may follow it.
func frames(to *bytes.Buffer, content []byte) {
	for _, format := range []struct {
		magic string
		open  func(io.Reader) (io.Reader, error)
	}{
		{"\x1f\x8b\x08", func(r io.Reader) (io.Reader, error) {
			z, err := gzip.NewReader(r)
			if err == nil {
				z.Multistream(false)
			}
			return z, err
		}},
		{"\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
		}},
	} {
		for at := 0; ; at++ {
			next := bytes.Index(content[at:], []byte(format.magic))
			if next < 0 {
				break
			}
			at += next
			if r, err := format.open(bytes.NewReader(content[at:])); err == nil {
				_, _ = io.Copy(to, io.LimitReader(r, 4<<20))
				to.WriteByte('\n')
			}
		}
	}
}

func parquetValues(to *bytes.Buffer, content []byte) {
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return
	}
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, 16)
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				for _, v := range row {
					fmt.Fprintln(to, v.String())
				}
			}
			if err != nil || n == 0 {
				break
			}
		}
		rows.Close()
	}
}
