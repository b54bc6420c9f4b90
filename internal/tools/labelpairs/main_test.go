package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestRun(t *testing.T) {
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := run("../../../testdata/site", w); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
	seen := map[string]int{}
	for dec := json.NewDecoder(&first); dec.More(); {
		var p pair
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.A == p.B || p.B == "" {
			t.Errorf("%s: nothing changed, or nothing left", p.Kind)
		}
		seen[p.Kind]++
	}
	for _, k := range kinds {
		if seen[k.name] < 20 {
			t.Errorf("%s: %d pairs", k.name, seen[k.name])
		}
	}
}
