package store

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// jsonOf is a value as encoding/json writes it, without the escapes for HTML.
func jsonOf(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// checkJSON holds that AppendJSON writes a record as encoding/json does.
func checkJSON(t *testing.T, r *Record) {
	t.Helper()
	want, wantErr := jsonOf(r)
	got, err := r.AppendJSON([]byte("before"))
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("got the error %v, want %v", err, wantErr)
	}
	if err == nil && string(got) != "before"+want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

// Each field by itself, and any of them together, whatever is in them.
func TestAppendJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	fields := reflect.TypeFor[Record]().NumField()
	checkJSON(t, &Record{})
	for i := range fields {
		for range 50 {
			var r Record
			setAny(rng, reflect.ValueOf(&r).Elem().Field(i))
			checkJSON(t, &r)
		}
	}
	for range 2000 {
		var r Record
		for i := range fields {
			if rng.IntN(3) > 0 {
				setAny(rng, reflect.ValueOf(&r).Elem().Field(i))
			}
		}
		checkJSON(t, &r)
	}
}

// What JSON cannot express is an error, as it is to encoding/json.
func TestAppendJSONErrors(t *testing.T) {
	for _, r := range []Record{
		{Resemblance: math.NaN()},
		{Resemblance: math.Inf(1)},
		{FetchedAt: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)},
		{First: time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 25*3600))},
	} {
		if b, err := r.AppendJSON(nil); err == nil {
			t.Errorf("got %s, want an error", b)
		}
		checkJSON(t, &r)
	}
}

// setAny sets a value to one of its type that is hard to write.
func setAny(rng *rand.Rand, v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		at := time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9))
		v.Set(reflect.ValueOf([]time.Time{at.UTC(), at.In(time.FixedZone("", 5400)), at.Truncate(time.Second).UTC()}[rng.IntN(3)]))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(anyText(rng))
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64() >> rng.IntN(64) * int64(1-2*rng.IntN(2)))
	case reflect.Uint8:
		v.SetUint(uint64(rng.IntN(256)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat([]float64{rng.Float64(), 1, 0.85, 1e-7, 1e-6, 3e21, -0.5, 100, math.SmallestNonzeroFloat64}[rng.IntN(9)])
	case reflect.Array:
		for i := range v.Len() {
			setAny(rng, v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rng.IntN(4), 4))
		for i := range v.Len() {
			setAny(rng, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			setAny(rng, v.Field(i))
		}
	default:
		panic(v.Type().String() + " is a type that the test does not know")
	}
}

// anyText is text of pieces that JSON writes in different ways.
func anyText(rng *rand.Rand) string {
	pieces := []string{"a", "Über", "<a href='&'>", `"`, `\`, "\x00", "\b\f\n\r\t", "\x1f\x7f", "\u2028", "\u2029", "\xff", "\xe2\x80", "\xed\xa0\x80", "日本", "🦎", "https://example.com/?a=b&c=%20"}
	var b strings.Builder
	for range rng.IntN(6) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

func FuzzAppendJSON(f *testing.F) {
	f.Add("https://example.com/<&>", "\u2028\xff", 0.5)
	f.Fuzz(func(t *testing.T, url, title string, share float64) {
		checkJSON(t, &Record{URL: url, Title: title, H1: []string{title, url}, Resemblance: share})
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	r := &Record{URL: "https://example.com/12345", Kind: Page, Status: 200, Verdict: "unique", Title: "A page", Words: 321, Size: 12345, FetchedAt: time.Unix(1e9, 0).UTC()}
	r.ID[3], r.Hash[5] = 1, 2
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = r.AppendJSON(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}
