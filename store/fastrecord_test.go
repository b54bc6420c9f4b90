package store_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/store"
)

// A record in the form of temporary stores is read as the same record as its JSON.
func TestFastRecord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var r store.Record
		fill(rt, reflect.ValueOf(&r).Elem())
		text, err := json.Marshal(&r)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := store.UnpackRecord(text)
		if err != nil {
			rt.Fatal(err)
		}
		packed, err := r.AppendFast(nil)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := store.UnpackRecord(packed)
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		if _, err := store.UnpackRecord(packed[:rapid.IntRange(0, len(packed)-1).Draw(rt, "cut")]); err != nil && !errors.Is(err, store.ErrCorrupt) {
			rt.Fatalf("cut: %v", err)
		}
	})
}

// fill sets v to any value of its type, and about half of its fields if it is a struct.
func fill(rt *rapid.T, v reflect.Value) {
	switch f := v.Addr().Interface().(type) {
	case *time.Time:
		zone := time.FixedZone("", 60*rapid.IntRange(-720, 720).Draw(rt, "zone"))
		*f = time.Unix(rapid.Int64Range(-1e9, 1e10).Draw(rt, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(rt, "nanoseconds")).In(zone)
		if rapid.Bool().Draw(rt, "utc") {
			*f = f.UTC()
		}
		return
	case *dedup.Hash:
		copy(f[:], rapid.SliceOfN(rapid.Byte(), len(f), len(f)).Draw(rt, "hash"))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(rt, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(rt, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(rt, "uint"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(rt, "byte")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1, 1).Draw(rt, "float"))
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"<&>\u2028\"\\", "a\xff\xfe\xc3", "\x00\x1f\x7f"})).Draw(rt, "string"))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 3).Draw(rt, "length"), 3))
		for i := range v.Len() {
			fill(rt, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if rapid.Bool().Draw(rt, "set") {
				fill(rt, v.Field(i))
			}
		}
	default:
		rt.Fatalf("a record has a %s: AppendFast and this test must learn to pack it", v.Kind())
	}
}

// BenchmarkRecord compares the two forms of a record of a file.
func BenchmarkRecord(b *testing.B) {
	r := &store.Record{
		ID: dedup.HashOf([]byte("doc-12345")), URL: "doc-12345", Kind: store.Page, FetchedAt: time.Now().UTC(), ContentType: "text/plain",
		Root: "plain", Words: 512, Hash: dedup.HashOf([]byte("text")), Verdict: dedup.Unique,
	}
	for _, form := range []struct {
		name   string
		encode func([]byte) ([]byte, error)
	}{
		{"json", func([]byte) ([]byte, error) { return json.Marshal(r) }},
		{"fast", r.AppendFast},
	} {
		b.Run("encode/"+form.name, func(b *testing.B) {
			b.ReportAllocs()
			var packed []byte
			for b.Loop() {
				packed, _ = form.encode(packed[:0])
			}
			b.SetBytes(int64(len(packed)))
		})
		b.Run("decode/"+form.name, func(b *testing.B) {
			b.ReportAllocs()
			packed, err := form.encode(nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := store.UnpackRecord(packed); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(packed)))
		})
	}
}
