package ingest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"skink/internal/corpus"
	"skink/store/badger"
)

// BenchmarkFiles judges a corpus as skink dedup does without --store. One in ten texts is an exact
// copy, and one in ten a near copy, of a text shortly before it. So a fifth of the verdicts are stale
// at the time of their commit.
func BenchmarkFiles(b *testing.B) {
	for _, n := range []int{30, 300} { // number of words in each text
		b.Run(fmt.Sprintf("words=%d", n), func(b *testing.B) {
			const texts = 5000
			lines := corpusOf(texts, n)
			b.SetBytes(int64(len(lines)))
			b.ReportAllocs()
			for b.Loop() {
				judgeLines(b, lines, texts)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(texts*b.N), "ns/text")
		})
	}
}

// corpusOf returns texts of n words each as JSON Lines.
func corpusOf(texts, n int) []byte {
	var lines bytes.Buffer
	for i := range texts {
		text := words(uint64(i), n)
		switch i % 10 {
		case 4:
			text = words(uint64(i-4), n)
		case 9:
			text = but(words(uint64(i-7), n), "changed")
		}
		fmt.Fprintf(&lines, "{\"text\":%q}\n", text)
	}
	return lines.Bytes()
}

func judgeLines(b *testing.B, lines []byte, texts int64) {
	ctx := context.Background()
	s, err := badger.Open(b.TempDir(), badger.Options{Create: true, Temporary: true, Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	opt := testOptions(b)
	opt.Rule.MinWords, opt.Temporary = 10, true
	p := start(b, s, opt)
	defer p.Close()
	in := &corpus.Inputs{Paths: []string{"-"}, Stdin: bytes.NewReader(lines), Unreadable: func(err error) { b.Error(err) }}
	_, err = p.Files(ctx, in.Records(ctx), FileOptions{Bad: func(bad *corpus.BadError) error { return bad }})
	if err != nil {
		b.Fatal(err)
	}
	if got := p.Added(); got.Pages() != texts || got.Exact != texts/10 {
		b.Fatalf("%d texts, %d exact; want %d and %d", got.Pages(), got.Exact, texts, texts/10)
	}
}
