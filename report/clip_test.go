package report

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{{"", 3, ""}, {"ab", 3, "ab"}, {"abcd", 3, "ab…"}, {"猫猫猫", 6, "猫猫猫"}, {"猫猫猫猫", 6, "猫猫…"}, {"a猫猫", 4, "a猫…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}} {
		if got := Clip(test.in, test.n); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

func TestClipMiddle(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{{"", 3, ""}, {"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc…fg"}, {"猫abcd犬", 7, "猫a…d犬"}, {"猫猫猫猫", 7, "猫…猫"}, {"abe\u0301e\u0301", 3, "a…e\u0301"}} {
		if got := clipMiddle(test.in, test.n); got != test.want {
			t.Errorf("clipMiddle(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

// A long URL must not shift the columns after it, and must be complete in the last column.
func TestLongURL(t *testing.T) {
	long := URL("http://a.test/" + strings.Repeat("x", 100) + "/end")
	table := Table{
		Columns: []Column{{Title: "URL", Brief: true}, {Title: "Repeats", Brief: true}},
		Rows:    []Row{{Cells: []any{URL("http://a.test/"), long}}, {Cells: []any{long, URL("http://a.test/")}}},
	}
	var out strings.Builder
	table.WriteText(&out, "", "  ")
	lines := strings.Split(out.String(), "\n")
	if !strings.HasSuffix(lines[1], "  "+string(long)) {
		t.Errorf("the last column is shortened: %q", lines[1])
	}
	if !strings.Contains(lines[2], "xx/end  http") {
		t.Errorf("the end of a long URL is not shown: %q", lines[2])
	}
	column := func(line, s string) int { return utf8.RuneCountInString(line[:strings.LastIndex(line, s)]) }
	if title, first, second := column(lines[0], "repeats"), column(lines[1], "http"), column(lines[2], "http"); title != first || first != second {
		t.Errorf("the second column begins at %d, %d and %d", title, first, second)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "é": 1, "e\u0301": 1, "潮だまり": 8, "ﾊﾝｶｸ": 4, "Ａ": 2, "🦀": 2, "กำ": 2, "กิ": 1} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

// Wide characters must not shift the columns after them.
func TestWideTitles(t *testing.T) {
	table := Table{Columns: []Column{{Title: "Title", Brief: true}, {Title: "URL", Brief: true}}}
	for _, title := range []string{"潮だまりの読み方", "Cafe\u0301 🦀", "tide pools", strings.Repeat("干潟", 40)} {
		table.Rows = append(table.Rows, Row{Cells: []any{title, URL("http://a.test/")}})
	}
	var out strings.Builder
	table.WriteText(&out, "", "  ")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	title, _, _ := strings.Cut(lines[0], "url")
	for _, line := range lines[1:] {
		before, _, found := strings.Cut(line, "http")
		if !found || Width(before) != Width(title) {
			t.Errorf("the URL begins at column %d, its title at %d: %q", Width(before), Width(title), line)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
	// 1.000 would wrongly promise equal texts.
	for x, want := range map[float64]string{0: "0.000", 0.8: "0.800", 0.9996: "0.999", 1: "1.000"} {
		if got := resemblance(x); got != want {
			t.Errorf("resemblance(%v) = %q, want %q", x, got, want)
		}
	}
}

// Problems must write counts with commas between thousands, the most frequent problem first.
func TestProblems(t *testing.T) {
	got := Problems(map[string]int64{"status 404": 2403, "": 1, "timeout": 17, "status 410": 17})
	if want := "status 404: 2,403, status 410: 17, timeout: 17, unknown: 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 ms", 18 * time.Millisecond: "18 ms", 2500 * time.Millisecond: "2.5 s", 40 * time.Second: "40 s", 65 * time.Second: "1m5s",
		2*time.Hour + 5*time.Minute + time.Second: "2h5m", 3 * time.Hour: "3h0m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}
