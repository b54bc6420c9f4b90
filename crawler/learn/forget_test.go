package learn

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// A hostile host has as much evidence as the limits allow, with random names. What is written is
// small enough for a store, consistent, and has what counts most.
func TestForget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	large := func() *Host {
		h := new(Host)
		h.Patterns, h.Values, h.Softs = map[string]*Pattern{}, map[string][]string{}, map[string]*Soft{}
		for i := range maxPatterns {
			h.Patterns["/"+random(1990)] = &Pattern{New: 1, Row: int64(i % (2 * minRow))}
			for range fewValues {
				key := random(50)
				h.Values[key] = append(h.Values[key], random(longestValue))
			}
		}
		for i := range maxSofts {
			name := "/" + random(1000)
			h.Softs[name] = &Soft{Pages: int64(i)}
			if i < maxProbes {
				h.Softs[name].Text = random(maxAnswer)
				h.Pending = append(h.Pending, name)
			}
		}
		h.Patterns["/often/{n}"] = &Pattern{New: 1000}
		h.Softs["/often/{n}"] = &Soft{Pages: 1000}
		return h
	}
	h := large()
	text := h.encode()
	if size := compressedSize(text); size > maxValue || size < maxValue/4 || len(text) > 2*maxValue {
		t.Errorf("%d bytes, %d compressed, want about %d", len(text), size, maxValue)
	}
	got := new(Host)
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	for _, name := range got.Pending {
		if got.Softs[name] == nil {
			t.Errorf("a probe is pending, but the pattern %.20s is forgotten", name)
		}
	}
	if got.Patterns["/often/{n}"] == nil || got.Softs["/often/{n}"] == nil {
		t.Error("the pattern with the most URLs is forgotten")
	}

	small := new(Host)
	small.Patterns = map[string]*Pattern{"/a": {New: 1}}
	if small.encode(); small.Patterns["/a"] == nil {
		t.Error("a small host forgets a pattern")
	}
}
