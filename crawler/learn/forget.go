package learn

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// # The size of the evidence
//
// The number of patterns per host is limited, but a hostile server can make each of them long. The
// evidence is written again and again during a crawl. So before it is written, its largest parts are
// halved until it is small enough. Patterns and soft 404s with few URLs are forgotten first.

// maxValue is the maximum size of a host's evidence, in bytes, compressed with DEFLATE. Honest
// hosts stay below the limit: after 6,000 pages, the evidence about a host with Java documentation
// took 1.1 MB, and about 60 KB compressed.
const maxValue = 256 << 10

// encode returns the evidence as JSON. If it is too large, encode forgets some of it.
func (h *Host) encode() []byte {
	for {
		text, _ := json.Marshal(h) // never fails, because a Host has only numbers, strings, slices and maps
		if compressedSize(text) <= maxValue {
			return text
		}
		h.forget()
	}
}

// compressedSize returns an upper bound on the compressed size of text.
func compressedSize(text []byte) int {
	if len(text) <= maxValue {
		return len(text)
	}
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed) // never fails, because the level is valid
	_, _ = w.Write(text)                           // a bytes.Buffer never fails
	_ = w.Close()
	return out.Len()
}

// forget halves the largest part of the evidence.
func (h *Host) forget() {
	patterns, values, softs, said := sizeOf(h.Patterns), sizeOf(h.Values), sizeOf(h.Softs), sizeOf(h.Said)
	switch max(patterns, values, softs, said) {
	case patterns:
		halve(h.Patterns, func(p *Pattern) int64 { return p.fetched() })
	case softs:
		halve(h.Softs, func(s *Soft) int64 { return s.Pages })
		h.Pending = slices.DeleteFunc(h.Pending, func(name string) bool { return h.Softs[name] == nil })
	case values:
		halve(h.Values, func(known []string) int64 { return int64(len(known)) })
	default:
		h.Said = seen{}
	}
}

func sizeOf(part any) int {
	text, _ := json.Marshal(part)
	return len(text)
}

// halve deletes half the entries of m, at least one: those with the lowest counts and, among equal
// counts, the longest keys.
func halve[V any](m map[string]V, count func(V) int64) {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(count(m[a]), count(m[b])), cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	for _, key := range keys[:(len(keys)+1)/2] {
		delete(m, key)
	}
}
