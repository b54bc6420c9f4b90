package warc_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"skink/warc"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 345_000_000, time.UTC)

// small returns an archive with the given number of answers, and the text of each record: header
// and block.
func small(t testing.TB, opt warc.Options, answers int) (file []byte, records []string) {
	t.Helper()
	var b bytes.Buffer
	w := warc.NewWriter(&b, opt)
	write := func(r *warc.Record) {
		t.Helper()
		r.Header.Add("WARC-Record-ID", fmt.Sprintf("<urn:uuid:%x>", sha256.Sum256(fmt.Append(nil, len(records))))) // the same ids in each run, which hardly compress
		block := r.Block.(io.Seeker)
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		_, _ = block.Seek(0, io.SeekStart)
		records = append(records, textOf(t, r))
	}
	info, err := warc.NewInfo("small.warc.gz", noon, warc.Header{{"software", "a test"}, {"format", "WARC File Format 1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	write(info)
	for i := range answers {
		body := fmt.Sprintf("<p>%s", strings.Repeat(fmt.Sprintf("Page %d. ", i), 40))
		head := fmt.Sprintf("HTTP/1.1 200 OK\r\nx-first: 1\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(body))
		write(warc.New(warc.Response, fmt.Sprintf("https://example.com/%d", i), noon, warc.TypeResponse, []byte(head+body)))
	}
	return b.Bytes(), records
}

func textOf(t testing.TB, r *warc.Record) string {
	t.Helper()
	block, err := io.ReadAll(r.Block)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%q %q", r.Header, block)
}

// A record that is written and read again is the same, at the offset that the Writer set,
// compressed or not.
func TestRoundTrip(t *testing.T) {
	for _, opt := range []warc.Options{{}, {Plain: true}} {
		file, want := small(t, opt, 5)
		r := warc.NewReader(bytes.NewReader(file))
		for i, text := range want {
			rec, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if got := textOf(t, rec); got != text {
				t.Errorf("record %d\n got %s\nwant %s", i, got, text)
			}
			alone, err := warc.NewReader(bytes.NewReader(file[rec.Offset : rec.Offset+rec.Length])).Next()
			if err != nil {
				t.Fatal(err)
			}
			if got := textOf(t, alone); got != text {
				t.Errorf("record %d, had by its offset\n got %s\nwant %s", i, got, text)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("after the last: %v", err)
		}
	}
}

// A record that was read from an archive is written unchanged.
func TestCopy(t *testing.T) {
	file, _ := small(t, warc.Options{Plain: true}, 3)
	var again bytes.Buffer
	w, r := warc.NewWriter(&again, warc.Options{Plain: true}), warc.NewReader(bytes.NewReader(file))
	for rec, err := r.Next(); err != io.EOF; rec, err = r.Next() {
		if err == nil {
			err = w.Write(rec)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(again.Bytes(), file) {
		t.Errorf("a copy differs:\n%s", again.String())
	}
}

// If a byte of an archive is wrong, all records except the one with that byte are read. Either no
// record is lost, or the Damage has the offset of the lost record.
func TestDamaged(t *testing.T) {
	for _, opt := range []warc.Options{{}, {Plain: true}} {
		file, want := small(t, opt, 2)
		offsets := offsetsOf(t, file)
		for at := range file {
			hit := 0
			for hit+1 < len(offsets) && offsets[hit+1] <= int64(at) {
				hit++
			}
			for _, flip := range []byte{0x01, 0x80, 0xFF} {
				broken := bytes.Clone(file)
				broken[at] ^= flip
				got, losses := survivors(t, broken)
				missing := 0
				for i, text := range want {
					if got[text] {
						continue
					}
					missing++
					if i != hit {
						t.Errorf("plain %v: byte %d, of record %d, is wrong, and record %d is lost", opt.Plain, at, hit, i)
					}
				}
				if missing > 0 && !opt.Plain && len(losses) == 0 {
					t.Errorf("byte %d: record %d is lost without a word", at, hit)
				}
				for _, d := range losses {
					if d.Offset < offsets[hit] || hit+1 < len(offsets) && d.Offset >= offsets[hit+1] {
						t.Errorf("plain %v: byte %d: the record at %d is wrong, and the error says %v", opt.Plain, at, offsets[hit], d)
					}
				}
			}
		}
	}
}

// From a truncated archive all complete records are read, and the Damage has the offset of the
// incomplete one.
func TestCutOff(t *testing.T) {
	for _, opt := range []warc.Options{{}, {Plain: true}} {
		file, want := small(t, opt, 3)
		offsets := append(offsetsOf(t, file), int64(len(file)))
		for length := range file {
			got, losses := survivors(t, file[:length])
			whole := 0
			for whole+1 < len(offsets) && offsets[whole+1] <= int64(length) {
				whole++
			}
			for i := range whole {
				if !got[want[i]] {
					t.Errorf("plain %v: cut at %d, and record %d is lost", opt.Plain, length, i)
				}
			}
			rest := int64(length) - offsets[whole]
			if rest > 0 && len(losses) != 1 && !got[want[whole]] || len(losses) > 0 && losses[0].Offset != offsets[whole] {
				t.Errorf("plain %v: cut at %d, %d bytes into a record: %v", opt.Plain, length, rest, losses)
			}
		}
	}
}

func offsetsOf(t *testing.T, file []byte) (all []int64) {
	t.Helper()
	r := warc.NewReader(bytes.NewReader(file))
	for rec, err := r.Next(); err != io.EOF; rec, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec.Offset)
	}
	return all
}

// survivors returns the records that can be read, and the damage. It reads one byte at a time, as
// from a pipe.
func survivors(t *testing.T, file []byte) (got map[string]bool, losses []*warc.Damage) {
	t.Helper()
	got = map[string]bool{}
	r := warc.NewReader(bytes.NewReader(file))
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return got, losses
		}
		var block []byte
		if err == nil {
			block, err = io.ReadAll(rec.Block)
		}
		if d, ok := errors.AsType[*warc.Damage](err); ok {
			losses = append(losses, d)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprintf("%q %q", rec.Header, block)] = true
	}
}

// Records that would make an invalid archive are refused.
func TestRefused(t *testing.T) {
	revisit := func(set ...string) *warc.Record {
		r := warc.New(warc.Revisit, "http://example.com/", noon, "", nil)
		for i := 0; i < len(set); i += 2 {
			r.Header.Set(set[i], set[i+1])
		}
		return r
	}
	for want, r := range map[string]*warc.Record{
		"profile":                                revisit("WARC-Profile", "http://example.com/nearly-the-same", "WARC-Refers-To", "<urn:x>"),
		"does not say which record it refers to": revisit("WARC-Profile", warc.ProfileNotModified),
		"payload digest":                         revisit("WARC-Profile", warc.ProfileIdentical, "WARC-Refers-To", "<urn:x>"),
		"is not a valid value of the field":      warc.New(warc.Resource, "http://example.com/\r\nWARC-Type: x", noon, "", nil),
		"no date":                                warc.New(warc.Resource, "http://example.com/", time.Time{}, "", nil),
		"has 0 bytes":                            revisit("Content-Length", "5"),
		"is not a valid field name":              revisit("a b", "c", "WARC-Profile", warc.ProfileNotModified, "WARC-Refers-To", "<urn:x>"),
		"WARC-Warcinfo-ID":                       revisit("WARC-Warcinfo-ID", "a\nb", "WARC-Profile", warc.ProfileNotModified, "WARC-Refers-To", "<urn:x>"),
	} {
		if _, err := (warc.Options{}).Append(nil, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if err := warc.NewWriter(io.Discard, warc.Options{}).Write(warc.New(warc.Resource, "x:y", noon, "", nil)); err == nil {
		t.Error("an archive may begin without a warcinfo")
	}
}

// An error of reading the file does not count as damage, and ends the reading.
func TestReadError(t *testing.T) {
	file, want := small(t, warc.Options{}, 3)
	broken := errors.New("the disk is gone")
	r := warc.NewReader(io.MultiReader(bytes.NewReader(file[:len(file)-10]), failing{broken}))
	for i := range len(want) + 1 {
		rec, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, rec.Block)
		}
		if (err != nil) != (i >= len(want)-1) || err != nil && !errors.Is(err, broken) {
			t.Errorf("record %d: %v", i, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
