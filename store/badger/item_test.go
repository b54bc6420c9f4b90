package badger

import (
	"bytes"
	"testing"
	"time"

	"skink/frontier"
)

// An ordinary item takes three bytes in addition to its URL, and one byte in its key for the priority.
func TestItemSize(t *testing.T) {
	url := "https://example.com/an/ordinary/page.html"
	for _, c := range []struct {
		name string
		item frontier.Item
		more int // number of bytes that the item takes in addition to its URL
	}{
		{"ordinary", frontier.Item{URL: url, Depth: 70000, Priority: 5}, 3},
		{"redirected to", frontier.Item{URL: url, Hops: 1, Via: "https://example.com/"}, 3 + 2 + 2 + 20},
		{"tried", frontier.Item{URL: url, Tries: 3}, 3 + 2},
		{"sitemap", frontier.Item{URL: url, Kind: frontier.Sitemap}, 3 + 2},
		{"revisited", frontier.Item{URL: url, Due: time.Unix(1, 0), Validators: frontier.Validators{ETag: `"abc"`}}, 3 + 3 + 2 + 2 + 5},
	} {
		if got := len(encodeQueued(c.item, position{})) - len(url); got != c.more {
			t.Errorf("%s: %d bytes beside the URL, want %d", c.name, got, c.more)
		}
	}
	if got, want := len(known{state: frontier.Pending, num: 1, place: position{level: levelOf(&frontier.Item{Depth: 5}), seq: 6}, url: url}.encode()), 6+len(url); got != want {
		t.Errorf("what is known of an ordinary URL takes %d bytes, want %d", got, want)
	}
}

// A time that nanoseconds cannot express becomes the farthest time that they can express.
func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		in  time.Time
		out int64
	}{
		{time.Time{}, 0},
		{time.Unix(5, 6).UTC(), 5e9 + 6},
		{time.Unix(0, 0), 1},
		{time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), 1},
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), 1<<63 - 1},
	} {
		if got := nanoseconds(c.in); got != c.out {
			t.Errorf("%v is stored as %d, want %d", c.in, got, c.out)
		}
	}
}

// FuzzDecodeQueued checks that no value makes decodeQueued panic, and that an item that it returns
// is the same after it is encoded and decoded again.
func FuzzDecodeQueued(f *testing.F) {
	item := frontier.Item{URL: "https://example.com/", Via: "v", Depth: 3, Hops: 1, Tries: 2, Kind: 1, Priority: -5, Due: time.Unix(1, 2), Validators: frontier.Validators{ETag: "e", Modified: "m"}}
	f.Add(encodeQueued(item, position{}), int64(0))
	f.Add(encodeQueued(item, position{due: 1}), int64(1))
	f.Add([]byte{0xff, 0x80}, int64(1))
	f.Fuzz(func(t *testing.T, b []byte, due int64) {
		at := position{due: due}
		read, _, err := decodeQueued(b, at)
		if err != nil {
			return
		}
		written := encodeQueued(read, at) // replaces invalid characters
		it, p, err := decodeQueued(written, at)
		if err != nil || !bytes.Equal(encodeQueued(it, p), written) {
			t.Errorf("%+v comes back as %+v, %v", read, it, err)
		}
	})
}
