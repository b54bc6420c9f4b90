package main

import (
	"os"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	page := `<title>The lamp</title><nav><a href=/>Home</a></nav><main><p>It was lit in 1884, and its keeper wrote <a href=log.html>a log</a>
about each night of that winter. <table><tr><th>Night<th>Wind<tr><td>1<td>north</table><img src=lamp.png alt="The lamp"></main>`
	if err := os.WriteFile("lamp.html", []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, []string{"lamp.html"}); err != nil {
		t.Fatal(err)
	}
	const want = `# The lamp

It was lit in 1884, and its keeper wrote [a log](log.html) about each night of that winter.

| Night | Wind |
| --- | --- |
| 1 | north |

![The lamp](lamp.png)

`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
