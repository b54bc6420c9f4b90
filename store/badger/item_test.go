package badger

import (
	"bytes"
	"testing"
	"time"

	"skink/frontier"
)

// An ordinary item takes one byte in addition to its URL, and one byte in its key for the priority.
func TestItemSize(t *testing.T) {
	url := "https://example.com/an/ordinary/page.html"
	for _, c := range []struct {
		name string
		item frontier.Item
		more int // number of bytes that the item takes in addition to its URL
	}{
		{"ordinary", frontier.Item{URL: url, Depth: 70000, Priority: 5}, 1},
		{"redirected to", frontier.Item{URL: url, Hops: 1, Via: "https://example.com/"}, 1 + 1 + 1 + 20},
		{"tried", frontier.Item{URL: url, Tries: 3}, 2},
		{"sitemap", frontier.Item{URL: url, Kind: frontier.Sitemap}, 2},
		{"revisited", frontier.Item{URL: url, Due: time.Unix(1, 0), ETag: `"abc"`}, 1 + 8 + 1 + 5},
	} {
		if got := len(encodeItem(c.item)) - len(url); got != c.more {
			t.Errorf("%s: %d bytes beside the URL, want %d", c.name, got, c.more)
		}
	}
	if got, want := len(known{state: frontier.Pending, num: 1, place: place{level: levelOf(&frontier.Item{Depth: 5}), seq: 6}, url: url}.encode()), 4+len(url); got != want {
		t.Errorf("what is known of an ordinary URL takes %d bytes, want %d", got, want)
	}
}

// A time that nanoseconds cannot express becomes the farthest time that they can express.
func TestNanoseconds(t *testing.T) {
	for _, c := range []struct{ in, out time.Time }{
		{time.Time{}, time.Time{}},
		{time.Unix(5, 6).UTC(), time.Unix(5, 6).UTC()},
		{time.Unix(0, 0), time.Unix(0, 1).UTC()},
		{time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 1).UTC()},
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 1<<63-1).UTC()},
	} {
		if got := timeOf(nanoseconds(c.in)); !got.Equal(c.out) {
			t.Errorf("%v comes back as %v, want %v", c.in, got, c.out)
		}
	}
}

// FuzzDecodeItem checks that no value makes decodeItem panic, and that an item that it returns is
// the same after it is encoded and decoded again.
func FuzzDecodeItem(f *testing.F) {
	f.Add(encodeItem(frontier.Item{URL: "https://example.com/", Via: "v", Hops: 1, Tries: 2, Kind: 1, Due: time.Unix(1, 2), ETag: "e", Modified: "m"}))
	f.Add([]byte{0xff, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := decodeItem(b)
		if err != nil {
			return
		}
		written := encodeItem(read) // encodeItem clips numbers and times to values that can be stored
		it, err := decodeItem(written)
		if err != nil || !bytes.Equal(encodeItem(it), written) {
			t.Errorf("%+v comes back as %+v, %v", read, it, err)
		}
	})
}
