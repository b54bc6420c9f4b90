package feed_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"skink/dedup"
	"skink/feed"
	"skink/feed/release"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/warc"
)

// A WET file has the text of each page, and a record with the other fields of its line.
func TestWET(t *testing.T) {
	for _, packed := range []bool{false, true} {
		file, pages := write(t, nasty(t), feed.Options{Filter: release.Filter{Include: feed.All}, Format: feed.WET, Packed: packed})
		if got := bytes.HasPrefix(file, []byte("\x1f\x8b")); got != packed {
			t.Errorf("packed: %v, want %v", got, packed)
		}
		lines, _ := write(t, nasty(t), feed.Options{Filter: release.Filter{Include: feed.All}})
		want := json.NewDecoder(bytes.NewReader(lines))
		r := warc.NewReader(bytes.NewReader(file))
		if rec, err := r.Next(); err != nil || rec.Type() != warc.Info {
			t.Fatalf("it begins with %+v, %v", rec, err)
		}
		for range pages {
			var line, said map[string]any
			if err := want.Decode(&line); err != nil {
				t.Fatal(err)
			}
			text, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(text.Block)
			if err != nil {
				t.Fatal(err)
			}
			wantText, _ := line["text"].(string)
			if text.Type() != warc.Conversion || text.URI() != warc.URIOf(line["url"].(string)) || string(bytes.ToValidUTF8(body, []byte("\uFFFD"))) != wantText {
				t.Errorf("%s %s\n got %q\nwant %q", text.Type(), text.URI(), body, wantText)
			}
			about, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if err := json.NewDecoder(about.Block).Decode(&said); err != nil {
				t.Fatal(err)
			}
			if about.Type() != warc.Metadata || about.Header.Get("WARC-Concurrent-To") != text.ID() || said["verdict"] != line["verdict"] || said["text"] != nil {
				t.Errorf("%s of %s: %v", about.Type(), about.URI(), said)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("behind the last page: %v", err)
		}
	}
	odd := storetest.NewMemory()
	commit(t, odd, store.Record{URL: "a file\nname ", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Lang: "e\r\nn"}, "a text")
	if file, pages := write(t, odd, feed.Options{Format: feed.WET}); pages != 1 || !bytes.Contains(file, []byte("WARC-Target-URI: urn:skink:a%20file%0Aname%20\r\n")) || bytes.Contains(file, []byte("Language")) {
		t.Errorf("%d pages: %s", pages, file)
	}
	nothing, _ := write(t, storetest.NewMemory(), feed.Options{Format: feed.WET, Packed: true})
	if info := warc.First(bytes.NewReader(nothing)); info.Get("WARC-Type") != "warcinfo" {
		t.Errorf("without pages, the file begins with %v", info)
	}
}
