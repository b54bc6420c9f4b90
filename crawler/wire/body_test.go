package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"skink/internal/tools/wiretest"
)

// answer returns an answer with a body, whose header declares these content codings.
func answer(codings string, body io.Reader) *http.Response {
	h := http.Header{}
	if codings != "" {
		h.Set("Content-Encoding", codings)
	}
	return &http.Response{Header: h, Body: io.NopCloser(body)}
}

var text = []byte(strings.Repeat("A skink is a lizard with short legs. ", 1000))

func TestReadBody(t *testing.T) {
	half := func(b []byte) []byte { return b[:len(b)/2] }
	tests := []struct {
		name string
		says string // value of Content-Encoding
		wire []byte
		want []byte
	}{
		{"identity", "", text, text},
		{"identity by name", "identity", text, text},
		{"gzip", "gzip", wiretest.Encode(t, "gzip", text), text},
		{"x-gzip", "X-GZip", wiretest.Encode(t, "gzip", text), text},
		{"deflate", "deflate", wiretest.Encode(t, "deflate", text), text},
		{"deflate without its header", "deflate", wiretest.Encode(t, "raw", text), text},
		{"brotli", "br", wiretest.Encode(t, "br", text), text},
		{"zstd", "zstd", wiretest.Encode(t, "zstd", text), text},
		{"zstd after a frame to skip", "zstd", append([]byte("\x50\x2a\x4d\x18\x01\x00\x00\x00x"), wiretest.Encode(t, "zstd", text)...), text},
		{"two", "gzip, br", wiretest.Encode(t, "gzip, br", text), text},
		{"three", "br,zstd ,gzip", wiretest.Encode(t, "br, zstd, gzip", text), text},
		{"empty list members", ", gzip,,identity", wiretest.Encode(t, "gzip", text), text},

		{"gzip that is plain", "gzip", text, text},
		{"gzip that is one byte", "gzip", []byte("x"), []byte("x")},
		{"zstd that is plain", "zstd", text, text},
		{"twice said, once done", "gzip, gzip", wiretest.Encode(t, "gzip", text), text},
		{"no coding at all", "utf-8", text, text},
		{"not said", "", wiretest.Encode(t, "gzip", text), wiretest.Encode(t, "gzip", text)},
		{"several gzip members", "gzip", bytes.Repeat(wiretest.Encode(t, "gzip", text), 3), bytes.Repeat(text, 3)},
		{"zeros behind gzip", "gzip", append(wiretest.Encode(t, "gzip", text), 0, 0, 0), text},
		{"a line end behind gzip", "gzip", append(wiretest.Encode(t, "gzip", text), '\r', '\n'), text},
		{"nothing as gzip", "gzip", nil, nil},
		{"nothing as deflate", "deflate", nil, nil},
		{"nothing as brotli", "br", nil, nil},
		{"nothing as zstd", "zstd", nil, nil},
		{"nothing, encoded", "zstd, gzip", wiretest.Encode(t, "zstd, gzip", nil), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readBody(answer(tt.says, bytes.NewReader(tt.wire)), 1<<20, anyReader, nil)
			if err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("got %.20q (%d bytes), %v, want %.20q (%d bytes)", got, len(got), err, tt.want, len(tt.want))
			}
		})
	}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		t.Run("half of "+coding, func(t *testing.T) {
			got, err := readBody(answer(coding, bytes.NewReader(half(wiretest.Encode(t, coding, noise(1<<16))))), 1<<20, anyReader, nil)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), coding) {
				t.Errorf("got %v, want that it ends early", err)
			}
			if !bytes.HasPrefix(noise(1<<16), got) || len(got) == 0 && coding != "zstd" {
				t.Errorf("got %d bytes, want what was decoded", len(got))
			}
		})
	}
}

// noise returns n bytes of text that does not compress well. It always returns the same text.
func noise(n int) []byte {
	var b bytes.Buffer
	for x := uint32(1); b.Len() < n; x = x*1664525 + 1013904223 {
		fmt.Fprintf(&b, "%d ", x)
	}
	return b.Bytes()[:n]
}

// A body whose compressed data is complete is used without its checksum. An exchange that uses gzip
// notes it.
func TestChecksums(t *testing.T) {
	whole, deflated := wiretest.Encode(t, "gzip", text), wiretest.Encode(t, "deflate", text)
	wrongSum, wrongSize := bytes.Clone(whole), bytes.Clone(whole)
	wrongSum[len(whole)-8]++
	wrongSize[len(whole)-1]++
	wrongZlib := bytes.Clone(deflated)
	wrongZlib[len(deflated)-1]++
	cut := io.ErrUnexpectedEOF
	for _, tt := range []struct {
		name, says string
		wire       io.Reader
		want       []byte
		note       bool
		err        error
	}{
		{"right", "gzip", bytes.NewReader(whole), text, false, nil},
		{"wrong sum", "gzip", bytes.NewReader(wrongSum), text, true, nil},
		{"wrong size", "gzip", bytes.NewReader(wrongSize), text, true, nil},
		{"no trailer", "gzip", bytes.NewReader(whole[:len(whole)-8]), text, true, nil},
		{"half a trailer", "gzip", bytes.NewReader(whole[:len(whole)-3]), text, true, nil},
		{"two members, the first is wrong", "gzip", bytes.NewReader(slices.Concat(wrongSum, whole)), slices.Concat(text, text), true, nil},
		{"wrong sum inside", "gzip, br", bytes.NewReader(wiretest.Encode(t, "br", wrongSum)), text, true, nil},
		{"zlib without its sum", "deflate", bytes.NewReader(deflated[:len(deflated)-4]), text, false, nil},
		{"zlib with a wrong sum", "deflate", bytes.NewReader(wrongZlib), text, false, nil},
		{"half a sum of zlib", "deflate", bytes.NewReader(deflated[:len(deflated)-2]), text, false, nil},
		{"no trailer inside", "gzip, br", bytes.NewReader(wiretest.Encode(t, "br", whole[:len(whole)-8])), text, true, nil},
		{"a byte less than no trailer", "gzip", bytes.NewReader(whole[:len(whole)-9]), text, false, cut},
		{"a connection that breaks in the trailer", "gzip", io.MultiReader(bytes.NewReader(whole[:len(whole)-4]), failed{cut}), text, false, cut},
	} {
		x := &Exchange{Status: http.StatusOK, Limit: func(http.Header) int64 { return 1 << 20 }, Raw: &Raw{}}
		x.read(answer(tt.says, tt.wire), anyReader)
		if x.Note != "" != tt.note || !errors.Is(x.BodyErr, tt.err) || !bytes.HasPrefix(tt.want, x.Body) || tt.err == nil && len(x.Body) != len(tt.want) {
			t.Errorf("%s: %d bytes, note %q, error %v", tt.name, len(x.Body), x.Note, x.BodyErr)
		}
	}
}

func TestReadBodyErrors(t *testing.T) {
	corrupt := wiretest.Encode(t, "gzip", text)
	corrupt[len(corrupt)/2] ^= 0xff
	badHead := wiretest.Encode(t, "br, gzip", text)
	badHead[3] = 0xe0                                        // invalid flags
	window := []byte("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00") // a zstd frame with a window of 2 GB
	broken := io.MultiReader(bytes.NewReader(wiretest.Encode(t, "gzip", noise(1<<16))[:9000]), failed{io.ErrClosedPipe})
	tests := []struct {
		name      string
		says      string
		wire      io.Reader
		undecoded bool
		detail    string
	}{
		{"corrupt gzip", "gzip", bytes.NewReader(corrupt), true, "gzip"},
		{"corrupt inner gzip", "gzip, br", bytes.NewReader(wiretest.Encode(t, "br", corrupt)), true, "gzip"},
		{"corrupt outer gzip", "br, gzip", bytes.NewReader(badHead), true, "gzip"},
		{"brotli that is plain", "br", bytes.NewReader(text), true, "br"},
		{"deflate that is plain", "deflate", bytes.NewReader(text), true, "deflate"},
		{"deflate with a dictionary", "deflate", strings.NewReader("\x78\xbb\x00\x00\x00\x02xxx"), true, "deflate"},
		{"zstd with a large window", "zstd", bytes.NewReader(window), true, "zstd"},
		{"four codings", "gzip, gzip, gzip, gzip", bytes.NewReader(text), true, "the response has too many content encodings: 4"},
		{"registered but not asked for", "compress", bytes.NewReader(text), true, "compress"},
		{"a connection that breaks under a decoder", "gzip", broken, false, io.ErrClosedPipe.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readBody(answer(tt.says, tt.wire), 1<<20, anyReader, nil)
			_, undecoded := errors.AsType[*EncodingError](err)
			if err == nil || undecoded != tt.undecoded || !strings.Contains(err.Error(), tt.detail) {
				t.Errorf("got %v, want an encoding error: %v, with %q", err, tt.undecoded, tt.detail)
			}
		})
	}
}

func TestReadBodyLimit(t *testing.T) {
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		wire := text
		if coding != "" {
			wire = wiretest.Encode(t, coding, text)
		}
		for _, limit := range []int{len(text) + 1, len(text), len(text) - 1, 1} {
			got, err := readBody(answer(coding, bytes.NewReader(wire)), int64(limit), anyReader, nil)
			if errors.Is(err, ErrTooLarge) != (limit < len(text)) || !bytes.Equal(got, text[:min(limit, len(text))]) {
				t.Errorf("%q within %d: got %d of %d bytes, %v", coding, limit, len(got), len(text), err)
			}
		}
	}
}

// TestReadBodyBomb reads bodies that are small on the wire and huge when they are decoded, and
// bodies that have no content however long they are.
func TestReadBodyBomb(t *testing.T) {
	const limit, maxMemory = 1 << 18, 32 << 20
	mega := make([]byte, 1<<20)
	gzipBomb := bytes.Repeat(wiretest.Encode(t, "gzip", mega), 200)
	zstdBomb := bytes.Repeat(wiretest.Encode(t, "zstd", mega), 200)
	tests := []struct {
		name string
		says string
		wire io.Reader
	}{
		{"gzip", "gzip", bytes.NewReader(gzipBomb)},
		{"zstd", "zstd", bytes.NewReader(zstdBomb)},
		{"brotli", "br", bytes.NewReader(wiretest.Encode(t, "br", bytes.Repeat(mega, 4)))},
		{"deflate", "deflate", bytes.NewReader(wiretest.Encode(t, "deflate", bytes.Repeat(mega, 4)))},
		{"gzip in gzip", "gzip, gzip", bytes.NewReader(wiretest.Encode(t, "gzip", gzipBomb))},
		{"zeros that are no gzip, in gzip", "gzip, gzip", bytes.NewReader(gzipBomb)},
		{"brotli in zeros", "br, gzip", bytes.NewReader(gzipBomb)},
		{"three deep", "zstd, br, gzip", bytes.NewReader(wiretest.Encode(t, "br, gzip", zstdBomb))},
		{"empty gzip members without end", "gzip", &repeat{unit: wiretest.Encode(t, "gzip", nil)}},
		{"empty zstd frames without end", "zstd", &repeat{unit: wiretest.Encode(t, "zstd", nil)}},
		{"zstd frames to skip without end", "zstd", &repeat{unit: append([]byte("\x50\x2a\x4d\x18\x00\x04\x00\x00"), make([]byte, 1024)...)}},
		{"empty deflate blocks without end", "deflate", &repeat{unit: []byte("\x00\x00\x00\xff\xff")}},
		{"plain without end", "", &repeat{unit: []byte("x")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wire := &counter{Reader: tt.wire}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := readBody(answer(tt.says, wire), limit, anyReader, nil)
			runtime.ReadMemStats(&after)
			if err == nil || len(got) > limit {
				t.Errorf("got %d bytes, %v, want that it stops", len(got), err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > maxMemory {
				t.Errorf("took %d MB of memory", n>>20)
			}
			if wire.n > encodedBound(limit)+1 {
				t.Errorf("read %d KB off the wire", wire.n>>10)
			}
		})
	}
}

// repeat is a reader that returns unit again and again.
type repeat struct {
	unit []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.unit[r.at]
		r.at = (r.at + 1) % len(r.unit)
	}
	return len(p), nil
}

// counter is a reader that counts the bytes that were read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// FuzzReadBody checks that readBody never panics, and never returns more bytes than the limit.
func FuzzReadBody(f *testing.F) {
	f.Add("", text)
	f.Add("utf-8, x-gzip", wiretest.Encode(f, "gzip", text))
	for _, codings := range []string{"gzip", "deflate", "br", "zstd", "br, gzip", "gzip, zstd, deflate"} {
		f.Add(codings, wiretest.Encode(f, codings, text[:500]))
	}
	f.Fuzz(func(t *testing.T, codings string, wire []byte) {
		const limit = 1 << 14
		got, err := readBody(answer(codings, bytes.NewReader(wire)), limit, anyReader, nil)
		if len(got) > limit || errors.Is(err, ErrTooLarge) && codings == "" && len(got) != limit {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
}

// anyReader returns body itself, for tests without limits on memory.
func anyReader(body io.Reader) io.Reader { return body }
