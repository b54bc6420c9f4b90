package warc_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"skink/warc"
)

// Empty lines beyond the two after a block do not make the block longer.
func TestMoreEmptyLines(t *testing.T) {
	for _, packed := range []bool{false, true} {
		var file bytes.Buffer
		for i := range 3 {
			record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.test/%d\r\nContent-Length: 4\r\n\r\nbody\r\n\r\n\r\n\n", i)
			if !packed {
				file.WriteString(record)
				continue
			}
			z := gzip.NewWriter(&file)
			_, _ = io.WriteString(z, record)
			_ = z.Close()
		}
		n := 0
		for r := warc.NewReader(&file); ; n++ {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(rec.Block); err != nil || string(body) != "body" {
				t.Errorf("packed %t: record %d has the block %q, %v", packed, n, body, err)
			}
		}
		if n != 3 {
			t.Errorf("packed %t: %d records, want 3", packed, n)
		}
	}
}

// A record whose Content-Length is too small is read to its end, if the end of its gzip member, the
// next record or the end of the file proves where it ends. The reader tells of it once, and loses no
// other record.
func TestLengthTooSmall(t *testing.T) {
	tests := []struct {
		name    string
		body    string
		missing int // number of bytes by which the length is too small
		packed  string
		lost    bool
	}{
		{"plain", strings.Repeat("x", 500), 1, "", false},
		{"plain, many bytes", strings.Repeat("x", 500), 64, "", false},
		{"plain, too many", strings.Repeat("x", 500), 65, "", true},
		{"plain, empty lines", "a\r\n\r\nb\r\n\r\n", 7, "", false},
		{"members", strings.Repeat("x", 500), 1, "each", false},
		{"members, many bytes", strings.Repeat("x", 9000), 4 << 10, "each", false},
		{"members, too many", strings.Repeat("x", 9000), 4<<10 + 1, "each", true},
		{"members, no length at all", "short", 5, "each", false},
		{"one member", strings.Repeat("x", 500), 30, "all", false},
	}
	for _, tt := range tests {
		for wrong := range 3 { // the first record, the one in the middle, the last one
			var file bytes.Buffer
			var z *gzip.Writer
			if tt.packed == "all" {
				z = gzip.NewWriter(&file)
			}
			for i := range 3 {
				length := len(tt.body)
				if i == wrong {
					length -= tt.missing
				}
				record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.test/%d\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:x:%d>\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, length, tt.body)
				switch tt.packed {
				case "":
					file.WriteString(record)
				case "each":
					z = gzip.NewWriter(&file)
					_, _ = io.WriteString(z, record)
					_ = z.Close()
				case "all":
					_, _ = io.WriteString(z, record)
				}
			}
			if tt.packed == "all" {
				_ = z.Close()
			}
			read, told := "", 0
			for r := warc.NewReader(&file); ; {
				rec, err := r.Next()
				if err == io.EOF {
					break
				}
				var body []byte
				if err == nil {
					body, err = io.ReadAll(rec.Block)
				}
				switch damage, _ := errors.AsType[*warc.Damage](err); {
				case err == nil && string(body) == tt.body:
					read += rec.URI()[len(rec.URI())-1:]
				case err == nil:
					t.Errorf("%s: record %s has %d bytes, want %d", tt.name, rec.URI(), len(body), len(tt.body))
				case errors.Is(err, warc.ErrShared):
				case damage == nil || damage.Lost() != tt.lost || damage.URI != fmt.Sprintf("http://a.test/%d", wrong):
					t.Errorf("%s: record %d: %v", tt.name, wrong, err)
				default:
					told++
				}
			}
			want := "012"
			if tt.lost {
				want = strings.ReplaceAll(want, fmt.Sprint(wrong), "")
			}
			if read != want || told != 1 {
				t.Errorf("%s, record %d: the records %q are read, and %d irregularities told; want %q and 1", tt.name, wrong, read, told, want)
			}
		}
	}
}
