package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Unpack reads zstd files whose frames need a dictionary, which is at the beginning of the file. The
// dictionary may be compressed, and may be cut off or too large.
func TestDictionary(t *testing.T) {
	var samples [][]byte
	for i := range 200 {
		samples = append(samples, fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/%x\r\n", sha256.Sum256([]byte{byte(i)})))
	}
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 1234, Contents: samples, History: bytes.Join(samples[:5], nil), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	withDict, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dict))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(content []byte) []byte {
		head := binary.LittleEndian.AppendUint32(bytes.Clone(dictionaryFrame), uint32(len(content)))
		return append(head, content...)
	}
	var body []byte
	for _, s := range samples {
		body = withDict.EncodeAll(s, body)
	}
	want := string(bytes.Join(samples, nil))
	for _, c := range []struct{ name, file, wrong string }{
		{"raw", string(frame(dict)) + string(body), ""},
		{"compressed", string(frame(plain.EncodeAll(dict, nil))) + string(body), ""},
		{"another frame", string(frame([]byte("note"))) + string(plain.EncodeAll([]byte(want), nil)), ""},
		{"no dictionary", string(body), "dictionary"},
		{"cut off", string(frame(dict)[:100]), "read the zstd dictionary: unexpected EOF"},
		{"too large", string(dictionaryFrame) + "\xff\xff\xff\xff", "at most 67108864 are allowed"},
		{"damaged", string(frame([]byte("\x28\xB5\x2F\xFDnothing"))) + string(body), "decompress the zstd dictionary"},
	} {
		u, err := Unpack(strings.NewReader(c.file), "a.warc.zst")
		var got []byte
		if err == nil {
			got, err = io.ReadAll(u)
			u.Close()
		}
		if c.wrong == "" && (err != nil || string(got) != want) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: the error is %v, want %q", c.name, err, c.wrong)
		}
	}
}
