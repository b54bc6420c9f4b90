package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const linkPage = "https://example.com/docs/tool/page.html"

var someLinks = []Link{
	{URL: "https://example.com/", Text: "Home", Kind: LinkAnchor},
	{URL: linkPage, Text: "this page", Kind: LinkAnchor},
	{URL: "https://example.com/docs/tool/next.html?a=1&b=2", Text: "Вперёд — «дальше»", Kind: LinkAnchor, NoFollow: true},
	{URL: "https://cdn.example/a.css", Kind: LinkStyle},
	{URL: "https://cdn.example/a.js", Kind: LinkScript},
	{URL: "https://example.com/docs/tool/p.png", Text: "a picture", Kind: LinkImage},
	{URL: "https://example.com/docs/tool/p.png", Text: "", Kind: LinkImage},
}

func TestLinksComeBack(t *testing.T) {
	long := slices.Repeat(someLinks, 200)
	for _, links := range [][]Link{nil, someLinks[:1], someLinks, long} {
		got, err := UnpackLinks(linkPage, PackLinks(linkPage, links))
		if err != nil || !reflect.DeepEqual(got, links) {
			t.Errorf("%d links: got %+v, %v; want %+v", len(links), got, err, links)
		}
	}
}

func TestAnyLinksComeBack(t *testing.T) {
	text := rapid.StringMatching(`[a-c/:.é]{0,12}`)
	link := rapid.Custom(func(r *rapid.T) Link {
		return Link{
			URL: text.Draw(r, "url"), Text: text.Draw(r, "text"),
			Kind: rapid.SampledFrom(linkKinds).Draw(r, "kind"), NoFollow: rapid.Bool().Draw(r, "nofollow"),
			Fragments: rapid.StringMatching(`([a-c]{1,3}(\n[a-c]{1,3})?)?`).Draw(r, "fragments"),
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		page, links := text.Draw(r, "page"), rapid.SliceOfN(link, 1, 20).Draw(r, "links")
		got, err := UnpackLinks(page, PackLinks(page, links))
		if err != nil || !reflect.DeepEqual(got, links) {
			r.Fatalf("got %+v, %v; want %+v", got, err, links)
		}
	})
}

// Most links of a page on a real site are a menu, some neighboring pages and some files. Packed,
// they must be smaller than a general compressor makes their URLs alone.
func TestPackedLinksAreSmall(t *testing.T) {
	var links []Link
	plain := 0
	for i := range 60 {
		l := Link{URL: fmt.Sprintf("https://example.com/docs/tool/section-%d/part-%d.html", i/10, i), Text: fmt.Sprint("Part ", i), Kind: LinkAnchor}
		links, plain = append(links, l), plain+len(l.URL)+len(l.Text)
	}
	if size := len(PackLinks(linkPage, links)); size > plain/6 {
		t.Errorf("60 links of %d bytes take %d packed", plain, size)
	}
}

func TestDamagedLinks(t *testing.T) {
	whole, err := decompress(PackLinks(linkPage, someLinks), shortList)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := UnpackLinks(linkPage, []byte("no frame")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("of what is no frame: %v", err)
	}
	for name, packed := range map[string][]byte{
		"of which only the first byte is left": {0},
		"that is no S2 block":                  append([]byte{0}, "no block"...),
		"whose block is cut":                   PackLinks(linkPage, someLinks)[:20],
	} {
		if _, err := UnpackLinks(linkPage, packed); !errors.Is(err, ErrCorrupt) {
			t.Errorf("of a list %s: %v", name, err)
		}
	}
	for n := range whole {
		if links, err := UnpackLinks(linkPage, compressFast(whole[:n])); !errors.Is(err, ErrCorrupt) && !slices.Equal(links, someLinks[:len(links)]) {
			t.Errorf("cut after %d of %d bytes: %v and %v, want an error, or the first links", n, len(whole), links, err)
		}
		for _, other := range []byte{0, 0x7f, 0xff} {
			bad := append([]byte(nil), whole...)
			bad[n] = other
			if links, err := UnpackLinks(linkPage, compressFast(bad)); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("byte %d is %#x: %v and %d links", n, other, err, len(links))
			}
		}
	}
	if _, err := UnpackLinks("https://e", PackLinks(linkPage, someLinks)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("with the URL of another page: %v", err)
	}
}

// A damaged list may state any length. No memory is taken for lengths that lists do not have.
func TestStatedLength(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := UnpackLinks(linkPage, binary.AppendUvarint([]byte{0}, 1<<30)); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("a list of a few bytes took %d bytes", taken)
	}
}

func FuzzUnpackLinks(f *testing.F) {
	f.Add(linkPage, []byte{3, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, page string, list []byte) {
		if len(page)+len(list) > 1<<16 {
			return
		}
		links, err := UnpackLinks(page, compressFast(list))
		if err != nil {
			return
		}
		again, err := UnpackLinks(page, PackLinks(page, links))
		if err != nil || len(links) != len(again) || len(links) > 0 && !reflect.DeepEqual(links, again) {
			t.Errorf("%+v came back as %+v, %v", links, again, err)
		}
	})
}

func TestAssets(t *testing.T) {
	var assets []string
	for _, k := range linkKinds {
		if k.Asset() {
			assets = append(assets, string(k))
		}
	}
	if got := strings.Join(assets, " "); got != "image script style media" {
		t.Errorf("assets are %s", got)
	}
}

// BenchmarkPackLinks packs the forty links of a page of documentation. Most of them lead to pages
// in the same folder.
func BenchmarkPackLinks(b *testing.B) {
	const page = "https://www.example.com/doc/libs/1_81_0/doc/html/accumulators/reference.html"
	links := []Link{{URL: "https://www.example.com/style.css", Kind: LinkStyle}}
	bytes := 0
	for i := range 39 {
		links = append(links, Link{
			URL: fmt.Sprintf("https://www.example.com/doc/libs/1_81_0/doc/html/accumulators/feature_%d.html", 7*i), Text: fmt.Sprint("Feature ", 7*i), Kind: LinkAnchor,
		})
	}
	for _, l := range links {
		bytes += len(l.URL) + len(l.Text)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		PackLinks(page, links)
	}
}
