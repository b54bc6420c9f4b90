package postings

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"skink/base/splitmix"
	"skink/store"
)

// writeTestSegment sorts postings, writes them as a segment, and opens the segment.
func writeTestSegment(t *testing.T, list []posting) *segment {
	t.Helper()
	slices.SortFunc(list, comparePostings)
	w, err := newSegmentWriter(filepath.Join(t.TempDir(), "1"+SegmentExt), len(list))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		w.add(p)
	}
	written, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	defer written.close()
	s, err := openSegment(written.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	if !bytes.Equal(s.head, written.head) || s.postings != written.postings || s.blocks != written.blocks || s.end != written.end {
		t.Error("a segment that was opened is not the one that was written")
	}
	return s
}

// The segment has keys that begin, end and fill blocks, and one that fills several blocks.
func TestSegment(t *testing.T) {
	want := map[uint64][]uint64{}
	var list []posting
	post := func(key uint64, numbers int) {
		for n := range uint64(numbers) {
			list = append(list, posting{key, 3*n + 1})
			want[key] = append(want[key], 3*n+1)
		}
	}
	post(0, 1)
	post(1, blockPostings-2)     // leaves room for one more posting in the first block
	post(2, 2)                   // begins in the first block and ends in the second
	post(3, blockPostings-1)     // ends at the end of the second block
	post(4, 3*blockPostings)     // fills three blocks
	post(1<<40, blockPostings+1) // fills one block and begins the next
	post(1<<63, 1)
	post(math.MaxUint64, 2)
	s := writeTestSegment(t, list)

	for key, nums := range want {
		for _, limit := range []int{1, 2, len(nums) - 1, len(nums), len(nums) + 1} {
			got, err := s.find(key, limit, []uint64{99})
			if err != nil {
				t.Fatal(err)
			}
			if w := append([]uint64{99}, nums[:max(0, min(limit, len(nums)))]...); !slices.Equal(got, w) {
				t.Errorf("key %d, limit %d: %d numbers, want %d", key, limit, len(got), len(w))
			}
		}
		if !s.filter.has(key, splitmix.Mix(key)) {
			t.Errorf("key %d is not in the filter", key)
		}
	}
	for _, key := range []uint64{5, 1<<40 - 1, 1<<40 + 1, 1<<63 + 1, math.MaxUint64 - 1} {
		if got, err := s.find(key, 9, nil); err != nil || len(got) > 0 {
			t.Errorf("key %d, which is not there: %v, %v", key, got, err)
		}
	}
	var read []posting
	r := &segmentReader{s: s}
	for r.next() {
		read = append(read, r.p)
	}
	if r.err != nil || !slices.Equal(read, list) {
		t.Errorf("read %d postings in order, %v; want %d", len(read), r.err, len(list))
	}
}

// Equal postings are written once. Empty segments are never written.
func TestSegmentOfOnePosting(t *testing.T) {
	p := posting{7, 5}
	s := writeTestSegment(t, []posting{p, p, p})
	if got, err := s.find(7, 9, nil); err != nil || !slices.Equal(got, []uint64{5}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A wrong byte or a truncation is found when the segment is opened or when all of it is read.
func TestSegmentDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list []posting
	for range 2000 {
		list = append(list, posting{r.Uint64(), r.Uint64N(1000)})
	}
	name := writeTestSegment(t, list).file.Name()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	readAll := func() error {
		s, err := openSegment(name)
		if err != nil {
			return err
		}
		defer s.close()
		for _, p := range list {
			if !s.filter.has(p.key, splitmix.Mix(p.key)) {
				return errors.New("forgotten")
			}
			nums, err := s.find(p.key, 9, nil)
			if err != nil {
				return err
			}
			if !slices.Contains(nums, p.num) {
				return errors.New("lost")
			}
		}
		return nil
	}
	for range 300 {
		b := slices.Clone(whole)
		b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
		if r.IntN(10) == 0 {
			b = b[:r.IntN(len(b))]
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := readAll(); !errors.Is(err, store.ErrCorrupt) {
			t.Fatalf("damage is %v, want %v", err, store.ErrCorrupt)
		}
	}
}
