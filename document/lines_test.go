package document

import (
	"slices"
	"strings"
	"testing"
)

// TestParagraphs turns the lines of pages into paragraphs. Lines of === separate the pages.
func TestParagraphs(t *testing.T) {
	for _, test := range []struct{ name, pages, want string }{
		{"a short line ends its paragraph", `
The first paragraph of the page has two lines, and the
second line is short.
The second paragraph has one line, which is also long.`, `
The first paragraph of the page has two lines, and the second line is short.
The second paragraph has one line, which is also long.`},
		{"bullets and numbered headings begin a block", `
A list follows this line, which is as long as the others:
• one item of the list that goes on and on to the end of
the next line of the page, which is a full line as well as
• another item that is so long that it fills the whole line
4.2 A heading`, `
A list follows this line, which is as long as the others:
• one item of the list that goes on and on to the end of the next line of the page, which is a full line as well as
• another item that is so long that it fills the whole line
4.2 A heading`},
		{"a paragraph goes on at the next page", `
The last line of this page is full, so its paragraph goes
===
on here.`, `
The last line of this page is full, so its paragraph goes on here.`},
		{"words that are broken at line ends", "\nThese words are all broken by a hyphen or what PDFium has inter\x02\nesting lines, well-known and well-\nknown, non-\nEuropean, page 3-\n4 and so on to the end of it", `
These words are all broken by a hyphen or what PDFium has interesting lines, well-known and well-known, non-European, page 3-
4 and so on to the end of it`},
		{"a hyphen at the end of the text", "\none two-", "\none two-"},
		{"page headers, footers and page numbers", `
The Manual
One page has this text.
iii
===
The Manual
Another page has this one.
4
===
The Manual
The third page.
Page 5 of 9`, `
One page has this text. iii
Another page has this one. 4
The third page. Page 5 of 9`},
		{"page numbers that are on three pages", `
Text of a page.
1
===
Text of another page.
2
===
Text of a third page.
13`, `
Text of a page. Text of another page. Text of a third page.`},
		{"a line on two pages is no page header", `
Total 17
one
===
Total 18
two`, `
Total 17 one
Total 18 two`},
		{"tables of contents", `
1.1 Purpose . . . . . . . . . . . . . . 5
Preface ........................... iv
1.1 Purpose`, `
1.1 Purpose`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, b := range paragraphs(linesOf(strings.Split(strings.TrimPrefix(test.pages, "\n"), "\n===\n"))) {
				got = append(got, b.Text)
			}
			if want := strings.Split(strings.TrimPrefix(test.want, "\n"), "\n"); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestPDFDate(t *testing.T) {
	for _, test := range [][2]string{
		{"D:20260131120000+01'00'", "2026-01-31T12:00:00+01:00"},
		{"D:20260131120000-0730", "2026-01-31T12:00:00-07:30"},
		{"D:20260131120000Z", "2026-01-31T12:00:00Z"},
		{"D:20260131120000Z00'00'", "2026-01-31T12:00:00Z"},
		{"D:20260131120000", "2026-01-31T12:00:00Z"},
		{"20260131", "2026-01-31"},
		{"D:20261331", ""},
		{"D:2026", ""},
		{"yesterday", ""},
		{"", ""},
	} {
		if got := pdfDate(test[0]); got != test[1] {
			t.Errorf("pdfDate(%q) = %q, want %q", test[0], got, test[1])
		}
	}
}
