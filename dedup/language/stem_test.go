package language

import (
	"strings"
	"sync"
	"testing"
)

func TestStem(t *testing.T) {
	for _, test := range []struct{ lang, word, want string }{
		{"en", "running", "run"},
		{"en", "cities", "citi"},
		{"en", "dog's", "dog"},
		{"ru", "кошками", "кошк"},
		{"ru", "ёлками", "елк"},
		{"es", "casas", "cas"},
		{"de", "häuser", "haus"},
		{"fr", "continuellement", "continuel"},
		{"it", "abbandonata", "abbandon"},
		{"pt", "meninas", "menin"},
		{"nl", "lichamelijk", "licham"},
		{"sv", "flickorna", "flick"},
		{"nb", "bilene", "bil"},
		{"tr", "evlerim", "ev"},
		{"pl", "domami", "dom"},
		{"pl", "nowego", "now"},
		{"pl", "ulice", "ulic"},
		{"pl", "oko", "oko"},
		{"uk", "кішками", "кішк"},
		{"uk", "новому", "нов"},
		{"uk", "містах", "міст"},
		{"xx", "running", "running"},
		{"", "running", "running"},
		{"en", "", ""},
		{"en", "\xff\xfeing", "\xff\xfeing"},
		{"en", strings.Repeat("y", 1<<20), strings.Repeat("y", 1<<20)},
	} {
		if got := Stem(test.lang, test.word); got != test.want {
			t.Errorf("Stem(%q, %.20q) = %.20q, want %.20q", test.lang, test.word, got, test.want)
		}
	}
}

// Several goroutines may call Stem at the same time, although they share a pool.
func TestStemConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				if got := Stem("en", "running") + Stem("ru", "кошками"); got != "runкошк" {
					t.Errorf("got %q", got)
					return
				}
			}
		})
	}
	wg.Wait()
}
