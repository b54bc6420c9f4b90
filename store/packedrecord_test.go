package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A packed record is read as the same record as its JSON.
func TestPackedRecord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var r store.Record
		fill(rt, reflect.ValueOf(&r).Elem())
		if r.URL != "" && (r.ID.IsZero() || rapid.Bool().Draw(rt, "id")) { // a stored record with a URL has an id
			r.ID = dedup.HashOf([]byte(r.URL))
		}
		if r.DuplicateOf != "" && (r.Leader.IsZero() || rapid.Bool().Draw(rt, "leader")) {
			r.Leader = dedup.HashOf([]byte(r.DuplicateOf))
		}
		text, err := json.Marshal(&r)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := store.UnpackRecord(text)
		if err != nil {
			rt.Fatal(err)
		}
		packed := r.AppendPacked(nil)
		got, err := store.UnpackRecord(packed)
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		if _, err := store.UnpackRecord(packed[:rapid.IntRange(0, len(packed)-1).Draw(rt, "cut")]); !errors.Is(err, store.ErrCorrupt) {
			rt.Fatalf("cut: %v", err)
		}
	})
}

// A record with an update, in either form, is read as the record from which the update was made.
func TestPackedUpdate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var before, after store.Record
		fill(rt, reflect.ValueOf(&before).Elem())
		before.ID, before.Leader = dedup.HashOf([]byte(before.URL)), dedup.HashOf([]byte("leader"))
		after = before
		if rapid.Bool().Draw(rt, "all fields") {
			fill(rt, reflect.ValueOf(&after).Elem())
			after.ID, after.Leader, after.URL = before.ID, before.Leader, before.URL
		} else {
			after.History, after.ETag, after.Private = store.History{}, "", !before.Private
		}
		text, err := json.Marshal(&before)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := store.UnpackRecord(after.AppendPacked(nil))
		if err != nil {
			rt.Fatal(err)
		}
		update := after.AppendUpdate(nil, &before)
		for _, form := range [][]byte{text, before.AppendPacked(nil)} {
			got, err := store.UnpackRecord(store.Updated(form, update))
			if err != nil || !reflect.DeepEqual(got, want) {
				rt.Fatalf("got %+v, %v\nwant %+v", got, err, want)
			}
		}
	})
}

// A packed item is read as the same item as its JSON.
func TestPackedItem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var it, want frontier.Item
		fill(rt, reflect.ValueOf(&it).Elem())
		it.Place = 0 // not stored
		text, err := json.Marshal(&it)
		if err == nil {
			err = json.Unmarshal(text, &want)
		}
		if err != nil {
			rt.Fatal(err)
		}
		packed := store.AppendStruct(nil, &it)
		got, err := store.UnpackStruct[frontier.Item](packed)
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		if _, err := store.UnpackStruct[frontier.Item](packed[:rapid.IntRange(0, len(packed)-1).Draw(rt, "cut")]); !errors.Is(err, store.ErrCorrupt) {
			rt.Fatalf("cut: %v", err)
		}
	})
}

// The counters of a store have numbers in maps and arrays.
func TestPackedCounts(t *testing.T) {
	type counts struct {
		URLs  frontier.PerState
		Tally store.Tally
	}
	rapid.Check(t, func(rt *rapid.T) {
		want := counts{Tally: store.Tally{Unique: rapid.Int64().Draw(rt, "unique"), Problems: rapid.MapOfN(rapid.String(), rapid.Int64(), 1, 3).Draw(rt, "problems")}}
		for i := range want.URLs {
			want.URLs[i] = rapid.Int64().Draw(rt, "state")
		}
		packed := store.AppendStruct(nil, &want)
		if got, err := store.UnpackStruct[counts](packed); err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		if _, err := store.UnpackStruct[counts](packed[:rapid.IntRange(0, len(packed)-1).Draw(rt, "cut")]); !errors.Is(err, store.ErrCorrupt) {
			rt.Fatalf("cut: %v", err)
		}
	})
}

// The form of packed structs depends on the fields and their order. If this test fails,
// increase layoutVersion of store/badger, and set want to the new value.
func TestPackedForms(t *testing.T) {
	for _, tt := range []struct {
		of   reflect.Type
		want uint64
	}{
		{reflect.TypeFor[store.Record](), 0x704c52bebbfc10b0},
		{reflect.TypeFor[frontier.Item](), 0xa03664cac17c2247},
		{reflect.TypeFor[frontier.Rest](), 0x269c6d3d052b5e80},
		{reflect.TypeFor[store.Tally](), 0xd5a40d1b8d217fd0},
	} {
		if got := xxh3.HashString(formOf(tt.of)); got != tt.want {
			t.Errorf("the fields of %v have hash %#x, want %#x", tt.of, got, tt.want)
		}
	}
}

// formOf lists the fields of a struct with their types.
func formOf(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return "[]" + formOf(t.Elem())
	case t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]():
		return t.Kind().String()
	}
	var b strings.Builder
	for i := range t.NumField() {
		fmt.Fprintf(&b, "%s %s; ", t.Field(i).Name, formOf(t.Field(i).Type))
	}
	return "{" + b.String() + "}"
}

// fill sets v to any value of its type, and about half of its fields if it is a struct.
func fill(rt *rapid.T, v reflect.Value) {
	switch f := v.Addr().Interface().(type) {
	case *time.Time:
		*f = time.Unix(rapid.Int64Range(-1e9, 1e10).Draw(rt, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(rt, "nanoseconds")).UTC()
		return
	case *dedup.Hash:
		copy(f[:], rapid.SliceOfN(rapid.Byte(), len(f), len(f)).Draw(rt, "hash"))
		return
	case *json.RawMessage:
		*f, _ = json.Marshal(rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(rt, "fields"))
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
		rt.Fatalf("a record has a %s: AppendPacked and this test must learn to pack it", v.Kind())
	}
}

// BenchmarkRecord compares the two forms of a record of a file.
func BenchmarkRecord(b *testing.B) {
	r := &store.Record{
		ID: dedup.HashOf([]byte("doc-12345")), URL: "doc-12345", Kind: store.Page, Fetch: store.Fetch{FetchedAt: time.Now().UTC(),
			Words: 512, Hash: dedup.HashOf([]byte("text"))}, ContentType: "text/plain",
		Root: "plain", Judged: store.Judged{Verdict: dedup.Unique},
	}
	for _, form := range []struct {
		name   string
		encode func([]byte) []byte
	}{
		{"json", func([]byte) []byte { b, _ := json.Marshal(r); return b }},
		{"packed", r.AppendPacked},
	} {
		b.Run("encode/"+form.name, func(b *testing.B) {
			b.ReportAllocs()
			var packed []byte
			for b.Loop() {
				packed = form.encode(packed[:0])
			}
			b.SetBytes(int64(len(packed)))
		})
		b.Run("decode/"+form.name, func(b *testing.B) {
			b.ReportAllocs()
			packed := form.encode(nil)
			for b.Loop() {
				if _, err := store.UnpackRecord(packed); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(packed)))
		})
	}
}
