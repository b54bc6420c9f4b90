package corpus

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzMembers compares the scanner of JSON lines with encoding/json.
func FuzzMembers(f *testing.F) {
	for _, line := range []string{
		`{"url":"https://example.com/","text":"a text","n":-1.5e+3,"ok":[true,false,null,{}]}`,
		"  {\t\"a\" :\r\n1 , \"b\":[ ] } ", `{}`, `null`, `[]`, `"text"`, ``, ` `, `{"a":1}}`, `{"a":1},`, `{,}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`,
		`{"a":1,"A":2,"a":3,"\u0061":4}`, `{"a":[1,],"b":2}`, `{"a":[,1]}`, `{"a":[1}`, `{"a":{"a":[{"a":"}"}]}}`,
		`{"a":"\"\\\/\b\f\n\r\t\u00e9\u20AC","b":"\ud83d\ude00","c":"\ud83d","d":"\ude00\ud83d","e":"\ud83d\u0041","f":"\ud83d\n"}`,
		`{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12`, `{"a":"\`, `{"a":"`, `{"a":"\ud83d\u12"}`, `{"\u00e9":1,"é":2}`,
		"{\"a\":\"\xff\xc3\",\"b\":\"\xc3\\n\",\"\xff\":1,\"c\":\"\xed\xa0\xbd\"}", "{\"a\":\"line\nfeed\"}", "{\"a\":\"\x7f\u0080\u2028\"}", "{\"a\":\"12345678\x1f\"}",
		`{"a":0,"b":-0,"c":0.5,"d":1e5,"e":1E-5}`, `{"a":01}`, `{"a":-}`, `{"a":.5}`, `{"a":1.}`, `{"a":1e}`, `{"a":+1}`, `{"a":tru}`, `{"a":nulll}`,
		`{"a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`,
		`{"a":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]json.RawMessage
		invalid := json.Unmarshal(line, &want)
		got, err := membersOf(line)
		if (err == nil) != (invalid == nil) || (got == nil) != (want == nil) {
			t.Fatalf("members of %q: %v, %v; want %q, %v", line, got, err, want, invalid)
		}
		names := slices.Sorted(got.names)
		if len(names) != len(want) {
			t.Fatalf("names of %q: %q; want those of %q", line, names, want)
		}
		for name, raw := range want {
			value, ok := got.value(name)
			if !ok || !bytes.Equal(value, raw) {
				t.Fatalf("%q of %q is %q, %v; want %q", name, line, value, ok, raw)
			}
			var text string
			if valueKind(raw) != "string" {
				continue
			}
			if err := json.Unmarshal(raw, &text); err != nil || string(unquoted(value)) != text {
				t.Fatalf("%q of %q: %q; want %q, %v", name, line, unquoted(value), text, err)
			}
		}
	})
}
