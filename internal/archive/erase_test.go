package archive

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// A told is a record of a test: its type, URL and what it refers to, and its block.
type told struct {
	kind   warc.Type
	url    string
	of     string // ID, or ID and "at" for a reference by URL and date
	block  string
	fields []warc.Field
}

const (
	answered = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n"
	planted  = "planted 1"
)

// inSHA1 returns the digest that most other programs write.
func inSHA1(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// archiveOf writes records to a file. The ID of a record is its number in the file, after the file's name.
func archiveOf(t *testing.T, name string, digest func([]byte) string, ids map[string]*warc.Record, records ...told) {
	t.Helper()
	var b bytes.Buffer
	info, err := warc.NewInfo(filepath.Base(name), time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(name, "private") {
		info.Header.Add(warc.PrivateField, "yes")
	}
	all := []*warc.Record{info}
	for i, r := range records {
		kind := warc.TypeResponse
		if r.kind == warc.Metadata {
			kind = warc.TypeFields
		}
		rec := warc.New(r.kind, r.url, time.Date(2026, 1, 2, 3, 4, i, 500, time.UTC), kind, []byte(r.block))
		rec.Header.Add("WARC-Record-ID", fmt.Sprintf("<%s%d>", filepath.Base(name)[:1], i))
		rec.Header = append(rec.Header, r.fields...)
		to, byDate := strings.CutSuffix(r.of, "at")
		switch first := ids[to]; {
		case r.of == "":
		case r.kind != warc.Revisit:
			rec.Header.Add("WARC-Concurrent-To", to)
		default:
			if !byDate {
				rec.Header.Add("WARC-Refers-To", to)
			}
			rec.Header.Add("WARC-Refers-To-Target-URI", first.URI())
			rec.Header.Add("WARC-Refers-To-Date", first.Date().Format(time.RFC3339))
			rec.Header.Add("WARC-Payload-Digest", first.Header.Get("WARC-Payload-Digest"))
			profile := warc.ProfileIdentical
			if strings.Contains(r.block, " 304 ") {
				profile = warc.ProfileNotModified
			}
			rec.Header.Add("WARC-Profile", profile)
		}
		switch _, body, _ := strings.Cut(r.block, "\r\n\r\n"); r.kind {
		case warc.Response:
			rec.Header.Add("WARC-Payload-Digest", digest([]byte(body)))
		case warc.Resource, warc.Conversion:
			rec.Header.Add("WARC-Payload-Digest", digest([]byte(r.block)))
		}
		ids[rec.ID()] = rec
		all = append(all, rec)
	}
	for _, rec := range all {
		plain, err := warc.Options{Plain: true}.Append(nil, rec)
		if err != nil {
			t.Fatal(err)
		}
		_, block, _ := bytes.Cut(plain, []byte("\r\n\r\n"))
		block = bytes.TrimSuffix(block, []byte("\r\n\r\n"))
		plain = bytes.Replace(plain, []byte(warc.Digest(block)), []byte(digest(block)), 1)
		z := corpus.Pack(&b, name)
		if _, err := z.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".gz") {
		entries, err := warc.IndexOf(&b, filepath.Base(name), func(d *warc.Damage) { t.Error(d) })
		if err = cmp.Or(err, writeIndex(indexName(name), entries)); err != nil {
			t.Fatal(err)
		}
	}
}

// recordsIn lists the records of a folder, and the places of those with IDs.
func recordsIn(t *testing.T, dir string) (list string, places map[string]store.Archived) {
	t.Helper()
	files, err := corpus.Archives(dir, func(kind string) { t.Errorf("a %s is left", kind) })
	if err != nil {
		t.Fatal(err)
	}
	places = map[string]store.Archived{}
	var b strings.Builder
	for _, f := range files {
		in, err := f.Unpacked()
		if err != nil {
			t.Fatal(err)
		}
		for r := warc.NewReader(in); ; {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			block, err := io.ReadAll(rec.Block)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := rec.Header.Get("WARC-Block-Digest"), warc.Digest(block); got != want && got != inSHA1(block) {
				t.Errorf("%s has the digest %s, want %s", rec.ID(), got, want)
			}
			if rec.Type() == warc.Info {
				continue
			}
			places[rec.ID()] = store.Archived{File: filepath.Base(f.Name), Offset: rec.Offset, Length: rec.Length}
			if _, body, ok := strings.Cut(string(block), "\r\n\r\n"); ok {
				block = []byte(body)
			}
			fmt.Fprintf(&b, "%s %s %s %s %s%s %q\n", rec.ID(), rec.Type(), rec.URI(), rec.Header.Get("Skink-Page"), rec.Header.Get("WARC-Refers-To"), strings.TrimPrefix(rec.Header.Get("WARC-Refers-To-Target-URI"), "http://a.test/"), block)
		}
		in.Close()
	}
	return b.String(), places
}

// TestErasure deletes /gone from archives of all kinds. The payload moves to the first record that stays and may have
// it, and all references are right. The places that stay are known. A second erasure changes nothing.
func TestErasure(t *testing.T) {
	isCopy := []warc.Field{{Name: corpus.PageField, Value: corpus.IsCopy}}
	for _, ending := range []string{".warc.gz", ".warc", ".warc.zst"} {
		for name, digest := range map[string]func([]byte) string{"": warc.Digest, " with SHA-1": inSHA1} {
			t.Run(ending+name, func(t *testing.T) {
				dir, ids := t.TempDir(), map[string]*warc.Record{}
				in := func(name string) string { return filepath.Join(dir, name+ending) }
				archiveOf(t, in("a"), digest, ids,
					told{kind: warc.Metadata, block: "seed: http://a.test/gone\r\n"},
					told{kind: warc.Conversion, url: "http://a.test/gone", block: planted},
					told{kind: warc.Response, url: "http://a.test/gone", block: answered + planted},
					told{kind: warc.Request, url: "http://a.test/gone", of: "<a2>", block: "GET /gone HTTP/1.1\r\n\r\n"},
					told{kind: warc.Resource, url: "urn:view:http://a.test/gone", of: "<a2>", block: planted},
					told{kind: warc.Metadata, of: "<a2>", block: planted},
					told{kind: warc.Response, url: "http://a.test/stays", block: answered + "stays"},
					told{kind: warc.Response, url: "http://a.test/api", block: answered + "planted 2"},
					told{kind: warc.Request, url: "http://a.test/api", of: "<a7>", block: "POST /api HTTP/1.1\r\n\r\n{\"page\":\"http:\\/\\/a.test\\/gone\"}"},
					told{kind: warc.Revisit, url: "http://a.test/gone", of: "<a2>", block: "HTTP/1.1 304 Not Modified\r\n\r\n"},
				)
				archiveOf(t, in("b-private"), digest, ids,
					told{kind: warc.Revisit, url: "http://a.test/secret", of: "<a2>", block: answered, fields: isCopy},
				)
				archiveOf(t, in("c"), digest, ids,
					told{kind: warc.Revisit, url: "http://a.test/1", of: "<a2>", block: "HTTP/1.1 304 Not Modified\r\n\r\n"},
					told{kind: warc.Revisit, url: "http://a.test/2", of: "<a2>at", block: answered, fields: isCopy},
					told{kind: warc.Request, url: "http://a.test/2", of: "<c1>", block: "GET /2 HTTP/1.1\r\nReferer: http://a.test/gone\r\n\r\n"},
					told{kind: warc.Revisit, url: "http://a.test/3", of: "<a2>", block: answered, fields: isCopy},
					told{kind: warc.Revisit, url: "http://a.test/4", of: "<a9>", block: answered, fields: isCopy},
					told{kind: warc.Revisit, url: "http://a.test/5", of: "<a6>", block: answered, fields: isCopy},
				)
				archiveOf(t, in("d"), digest, ids, told{kind: warc.Response, url: "http://a.test/other", block: answered + "other"})
				_, before := recordsIn(t, dir)
				untouched, err := os.ReadFile(in("d"))
				if err != nil {
					t.Fatal(err)
				}
				e := &Erasure{Dirs: []string{dir}, Erases: func(url string) bool { return url == "http://a.test/gone" }, Note: func(text string) { t.Error(text) }}
				if err := e.Find(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := e.Write(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				if e.Records != 8 || e.Moved != 1 || e.Bytes < 1000 && ending != ".warc.zst" {
					t.Errorf("a dry run counts %d records with %d bytes, and %d payloads", e.Records, e.Bytes, e.Moved)
				}
				for _, id := range []string{"killed", "id"} {
					if err := e.Write(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				if err := e.Complete("earlier id"); err != nil {
					t.Fatal(err)
				}
				if !e.Searches("d"+ending) || e.Searches("elsewhere"+ending) {
					t.Error("the files in the folder are not known, or others are")
				}
				got, after := recordsIn(t, dir)
				want := `<a0> metadata    "seed: http://a.test/gone\r\n"
<a6> response http://a.test/stays   "stays"
<b0> revisit http://a.test/secret copy <c1>2 ""
<c0> revisit http://a.test/1  <c1>2 ""
<c1> response http://a.test/2 yes  "planted 1"
<c2> request http://a.test/2   ""
<c3> revisit http://a.test/3 copy <c1>2 ""
<c4> revisit http://a.test/4 copy <c1>2 ""
<c5> revisit http://a.test/5 copy <a6>stays ""
<d0> response http://a.test/other   "other"
`
				if got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
				for id, at := range before {
					if ending == ".warc.zst" { // the store knows no places in such a file
						break
					}
					place := after[id]
					if id == "<a2>" {
						place = after["<c1>"]
					}
					if got := e.Place(at); got != place {
						t.Errorf("%s is at %+v, want %+v", id, got, place)
					}
				}
				if b, err := os.ReadFile(in("d")); err != nil || !bytes.Equal(b, untouched) {
					t.Errorf("a file without deleted records was changed: %v", err)
				}
				files, err := corpus.Archives(dir, func(string) {})
				if err != nil {
					t.Fatal(err)
				}
				found := corpus.Originals(files).Find(ids["<a2>"].Header.Get("WARC-Payload-Digest"))
				if found == nil || found.ID() != "<c1>" {
					t.Errorf("found %v", found)
				} else {
					found.Close()
				}
				e = &Erasure{Dirs: e.Dirs, Erases: e.Erases, Note: e.Note}
				if err := e.Find(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := e.Write(t.Context(), ""); err != nil || e.Records != 0 {
					t.Errorf("a second erasure deletes %d records, %v", e.Records, err)
				}
			})
		}
	}
}

// What cannot be read may belong to a deleted page, so it goes, too. The records around it stay.
func TestErasureOfDamage(t *testing.T) {
	dir, ids := t.TempDir(), map[string]*warc.Record{}
	for _, name := range []string{"a", "b", "c"} {
		archiveOf(t, filepath.Join(dir, name+".warc.gz"), warc.Digest, ids, told{kind: warc.Response, url: "http://a.test/" + name, block: answered + name})
	}
	var all []byte
	for _, name := range []string{"a", "b", "c"} {
		b, err := os.ReadFile(filepath.Join(dir, name+".warc.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if name == "b" {
			b[len(b)-12] ^= 0x55
		}
		all = append(all, b...)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.warc.gz"), all, 0o666); err != nil {
		t.Fatal(err)
	}
	var notes []string
	e := &Erasure{Dirs: []string{dir}, Erases: func(url string) bool { return url == "http://a.test/a" }, Note: func(text string) { notes = append(notes, text) }}
	if err := e.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Write(t.Context(), "id"), e.Complete("id")); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "b.warc.gz: what cannot be read is deleted: at offset ") {
		t.Errorf("notes: %q", notes)
	}
	if got, _ := recordsIn(t, dir); got != "<c0> response http://a.test/c   \"c\"\n<c0> response http://a.test/c   \"c\"\n" {
		t.Errorf("got\n%s", got)
	}
}
