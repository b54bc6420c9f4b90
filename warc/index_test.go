package warc_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"skink/warc"
)

// The expected keys are those of the Python package surt.
func TestSURT(t *testing.T) {
	for url, want := range map[string]string{
		"http://www.example.com/":                                              "com,example)/",
		"https://www2.Example.com:443/A/B/":                                    "com,example)/a/b",
		"http://example.com:8080/":                                             "com,example:8080)/",
		"http://user:pw@example.com":                                           "com,example)/",
		"http://example.com?b=2&a=1&c":                                         "com,example)/?a=1&b=2&c",
		"http://example.com/?":                                                 "com,example)/",
		"http://192.168.1.254/info/":                                           "254,1,168,192)/info",
		"http://example.com/app?item=Wroc%C5%82aw":                             "com,example)/app?item=wroc%c5%82aw",
		"http://host/%25%32%35":                                                "host)/%25",
		"http://host.com//twoslashes?more//slashes":                            "com,host)/twoslashes?more//slashes",
		"http://example.com/a;jsessionid=0123456789abcdef0123456789ABCDEF":     "com,example)/a",
		"http://example.com/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef#f": "com,example)/?x=1",
		"http://example.com/(a)%20b":                                           "com,example)/(a)%20b",
		"urn:X":                                                                "urn:x",
	} {
		if got := warc.SURT(url); got != want {
			t.Errorf("%s has the key %s, want %s", url, got, want)
		}
	}
}

func TestIndex(t *testing.T) {
	file, _ := small(t, warc.Options{}, 3)
	entries, err := warc.IndexOf(bytes.NewReader(file), "small.warc.gz", func(d *warc.Damage) { t.Error(d) })
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	var b bytes.Buffer
	if err := warc.WriteIndex(&b, entries); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 || !slices.IsSorted(lines) {
		t.Fatalf("the index is\n%s", b.String())
	}
	e := entries[2]
	want := fmt.Sprintf(`com,example)/0 20260102120000 {"url":"https://example.com/0","mime":"text/html","status":"200","digest":%q,"length":"%d","offset":"%d","filename":"small.warc.gz"}`, e.Digest, e.Length, e.Offset)
	if lines[0] != want || !strings.HasPrefix(e.Digest, "sha256:") {
		t.Errorf("\n got %s\nwant %s", lines[0], want)
	}
}

// A WACZ file contains the archives uncompressed and unchanged, and the digest of each of its
// files.
func TestWACZ(t *testing.T) {
	file, _ := small(t, warc.Options{}, 3)
	p := warc.Package{
		Software: "a test", Created: noon,
		Archives: []warc.Archive{{Name: "small.warc.gz", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }}},
		Pages:    pagesOf(warc.StartPage{ID: "1", URL: "https://example.com/0", Date: noon, Title: "<Page> 0", Text: "Page 0."}),
	}
	var b bytes.Buffer
	if err := warc.WriteWACZ(&b, p); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in) // reading the file also verifies its checksum
		if err != nil {
			t.Fatal(f.Name, err)
		}
		files[f.Name] = string(content)
		if stored := strings.HasPrefix(f.Name, "archive/"); stored != (f.Method == zip.Store) {
			t.Errorf("%s has method %d", f.Name, f.Method)
		}
	}
	want := []string{"archive/small.warc.gz", "datapackage-digest.json", "datapackage.json", "indexes/index.cdxj", "pages/pages.jsonl"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Fatalf("files %q", got)
	}
	if files["archive/small.warc.gz"] != string(file) {
		t.Error("the archive differs")
	}
	if want := `{"format":"json-pages-1.0","id":"pages","title":"All Pages"}` + "\n" + `{"id":"1","url":"https://example.com/0","ts":"2026-01-02T12:00:00.345Z","title":"<Page> 0","text":"Page 0."}` + "\n"; files["pages/pages.jsonl"] != want {
		t.Errorf("pages\n%s", files["pages/pages.jsonl"])
	}
	type item struct {
		Path, Hash string
		Bytes      int
	}
	var list struct {
		Version   string `json:"wacz_version"`
		Resources []item
	}
	var digest item
	if err := json.Unmarshal([]byte(files["datapackage.json"]), &list); err != nil || list.Version != "1.1.1" || len(list.Resources) != 3 {
		t.Fatalf("datapackage.json: %v, %+v", err, list)
	}
	if err := json.Unmarshal([]byte(files["datapackage-digest.json"]), &digest); err != nil {
		t.Fatal(err)
	}
	digest.Bytes = len(files[digest.Path])
	for _, r := range append(list.Resources, digest) {
		if content := files[r.Path]; r.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) || r.Bytes != len(content) {
			t.Errorf("%s has %d bytes, and the list says %+v", r.Path, len(content), r)
		}
	}
}

func pagesOf(all ...warc.StartPage) iter.Seq2[warc.StartPage, error] {
	return func(yield func(warc.StartPage, error) bool) {
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// WriteWACZ fails for a damaged archive, unless Package.Damaged is set.
func TestDamagedPackage(t *testing.T) {
	file, _ := small(t, warc.Options{}, 3)
	file[len(file)/2] ^= 0xFF
	p := warc.Package{Created: noon, Archives: []warc.Archive{{Name: "a.warc.gz", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }}}}
	if err := warc.WriteWACZ(io.Discard, p); err == nil || !strings.Contains(err.Error(), "a.warc.gz: at offset ") {
		t.Errorf("the error is %v", err)
	}
	told := 0
	p.Damaged = func(string, *warc.Damage) { told++ }
	if err := warc.WriteWACZ(io.Discard, p); err != nil || told == 0 {
		t.Errorf("%v; told of %d", err, told)
	}
}

func TestBegins(t *testing.T) {
	packed, _ := small(t, warc.Options{}, 3)
	plain, _ := small(t, warc.Options{Plain: true}, 3)
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	_, _ = z.Write([]byte("<p>No archive."))
	_ = z.Close()
	var blank bytes.Buffer
	z.Reset(&blank)
	_, _ = z.Write([]byte("\r\n"))
	_ = z.Close()
	for _, test := range []struct {
		start string
		want  bool
	}{
		{string(packed), true}, {string(packed[:200]), true}, {string(plain[:100]), true},
		{"\r\n\n" + string(plain), true}, {blank.String() + string(packed), true}, {blank.String(), false}, {"\n\nWAR", false},
		{gz.String(), false}, {"WAR", false}, {"", false}, {"\x1f\x8b\x08", false}, {"<p>WARC/1.0\r\n", false},
	} {
		if got := warc.Begins([]byte(test.start)); got != test.want {
			t.Errorf("%.20q: %v", test.start, got)
		}
	}
}
