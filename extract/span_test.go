package extract

import (
	"strings"
	"testing"
)

// TestSpans checks that each row of data has the text of the cells that cover it, in text and in
// Markdown.
func TestSpans(t *testing.T) {
	for _, test := range []struct{ name, rows, text, markdown string }{
		{"first column", "<tr><th>Lake<th>Year<th>Depth<tr><td rowspan=3>Inari<td>2001<td>92<tr><td>2002<td>91<tr><td>2003<td>93<tr><td>Saimaa<td>2001<td>85",
			"Lake Year Depth|Inari 2001 92|Inari 2002 91|Inari 2003 93|Saimaa 2001 85",
			"| Lake | Year | Depth ||| --- | --- | --- ||| Inari | 2001 | 92 ||| Inari | 2002 | 91 ||| Inari | 2003 | 93 ||| Saimaa | 2001 | 85 |"},
		{"head with both", "<tr><th rowspan=2>Lake<th colspan=2>Depth<th rowspan=2>Fish<tr><th>Mean<th>Most<tr><td>Inari<td>14<td>92<td>trout",
			"Lake Depth Fish|Lake Mean Most Fish|Inari 14 92 trout",
			"| Lake | Depth |  | Fish ||| --- | --- | --- | --- ||| Lake | Mean | Most | Fish ||| Inari | 14 | 92 | trout |"},
		{"last column and to the end", "<tr><td>May<td>3<td rowspan=0><b>closed</b><tr><td>June<td>4<tr><td>July<td>5",
			"May 3 closed|June 4 closed|July 5 closed",
			"|  |  |  ||| --- | --- | --- ||| May | 3 | **closed** ||| June | 4 | closed ||| July | 5 | closed |"},
		{"a block of two by two", "<tr><td colspan=2 rowspan=2>both<td>1<tr><td>2<tr><td>x<td>y<td>3",
			"both 1|both 2|x y 3",
			"|  |  |  ||| --- | --- | --- ||| both |  | 1 ||| both |  | 2 ||| x | y | 3 |"},
		{"a row without text", "<tr><td rowspan=3>a<td>1<tr><td><button>Edit</button><tr><td>2",
			"a 1|a 2",
			"|  |  ||| --- | --- ||| a | 1 ||| a | 2 |"},
		{"the group ends", "<tbody><tr><td rowspan=9>a<td>1<tr><td>2<tbody><tr><td>b<td>3",
			"a 1|a 2|b 3",
			"|  |  ||| --- | --- ||| a | 1 ||| a | 2 ||| b | 3 |"},
	} {
		d := parsePage(t, "<main><h1>Lakes</h1><p>The table has the lakes.<table>"+test.rows+"</table>")
		text := strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(d.Text, "Lakes\nThe table has the lakes.\n"), "\t", " "), "\n", "|")
		if text != test.text {
			t.Errorf("%s: got %q, want %q", test.name, text, test.text)
		}
		_, md, _ := strings.Cut(d.Markdown(MarkdownOptions{}), "lakes.\n\n")
		if got := strings.ReplaceAll(md, "\n", "|"); got != test.markdown {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.markdown)
		}
	}
}

// TestSpansAreBounded checks that a page with spanned cells does not grow without limit.
func TestSpansAreBounded(t *testing.T) {
	d := parsePage(t, "<main><p>Before it.<table><tr><td rowspan=65534>"+strings.Repeat("long ", 200)+"<td>0"+strings.Repeat("<tr><td>1", 10000)+"</table>")
	if n := len(d.Text); n > 100<<10 {
		t.Errorf("the text has %d bytes", n)
	}
}
