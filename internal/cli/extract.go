package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler"
	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/extract/selector"
)

var extractCommand = command{
	name:  "extract",
	args:  "[flags] PAGE...",
	short: "print the main text of pages",
	long: `
Prints the main text of pages and documents (PDF, DOCX, EPUB), as a crawl would extract
it. A PAGE is a file, a URL or - for standard input. If an input has no text, the command
prints its name to standard error and, at the end, exits with code 1. A URL is fetched without
reading robots.txt. The pages of a web archive are read with skink crawl --from.

--markdown prints headings, lists, tables, code, links and emphasis as Markdown, with URLs as
they appear in the page.

These commands print a page as a JSON object, and its main text as Markdown:

  skink extract --json testdata/site/index.html
  skink extract --markdown testdata/site/index.html`,
	setup: setupExtract,
}

type extracted struct {
	Path string `json:"path"`
	*extract.Document
	Words    int    `json:"words"` // number of words in the canonical text
	Markdown string `json:"markdown,omitempty"`
}

type extractFlags struct {
	json, markdown bool
	rules          selector.Rules
	fetch          crawler.Options // options for fetching a page
}

func setupExtract(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &extractFlags{fetch: crawler.Defaults()}
	flags.BoolVar(&f.json, "json", false, "print one JSON object for each page: {\"path\",\"title\",\"lang\",\"text\",\"words\",...}")
	flags.BoolVar(&f.markdown, "markdown", false, "print the main text as Markdown; with --json, add it to each object")
	flags.Func("main", "`SELECTOR` print the text of the elements that this CSS selector selects", func(text string) error { return f.rules.Add("main", text) })
	flags.Func("drop", "`SELECTOR` leave out the elements that this CSS selector selects (repeatable)", func(text string) error { return f.rules.Add("drop", text) })
	flags.Func("field", "`NAME=SELECTOR` with --json: add a field with the text of the first element that the selector selects (repeatable)", func(text string) error {
		name, css, _ := strings.Cut(text, "=")
		return f.rules.Add("fields."+name, css)
	})
	addPrivateFlag(flags, &f.fetch)
	return f.run
}

func (f *extractFlags) run(ctx context.Context, con Console, args []string) (err error) {
	if err := checkURLs(args); err != nil {
		return err
	}
	documents := document.NewReader(document.Options{})
	defer func() { err = keepFirst(err, documents.Close()) }()
	out := bufio.NewWriter(con.Out)
	failed := 0
	for _, name := range args {
		doc, err := readPage(ctx, con, documents, extract.Options{Page: f.markdown, Select: f.rules}, f.fetch, name)
		if ctx.Err() != nil {
			return keepFirst(out.Flush(), ctx.Err())
		}
		if err == nil && doc.Text == "" && !f.json {
			err = fmt.Errorf("%s has no text", harmless.Line(name))
		}
		if err != nil {
			fmt.Fprintf(con.Err, "skink: %s\n", harmless.Error(err))
			failed++
			continue
		}
		con.lacks(name, document.Incomplete(doc))
		for _, s := range doc.Missed {
			con.lacks(name, "this selector found nothing: "+s)
		}
		if err := f.print(out, name, doc); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return exitError(exitFailed)
	}
	return nil
}

func (f *extractFlags) print(w io.Writer, name string, doc *extract.Document) error {
	var words dedup.Text // counts words in the same way as reports and the view
	words.Read([]byte(doc.Text))
	markdown := ""
	if f.markdown {
		markdown = doc.Markdown(extract.MarkdownOptions{})
	}
	switch {
	case f.json:
	case f.markdown:
		_, err := fmt.Fprintln(w, harmless.Lines(markdown))
		return err
	default:
		_, err := fmt.Fprintln(w, harmless.Lines(doc.Text))
		return err
	}
	return writeLine(w, extracted{name, doc, words.Len(), markdown})
}

// lacks prints what a document lacks, if anything.
func (con Console) lacks(name, note string) {
	if note != "" {
		fmt.Fprintf(con.Err, "skink: %s: %s\n", harmless.Line(name), note)
	}
}
