package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"skink/crawler"
	"skink/internal/replay"
	"skink/store"
	"skink/warc"
)

// archiveStart is how much of a file is looked at to tell whether it is a web archive.
const archiveStart = 64 << 10

// archiveOf opens the file of a name if it is a web archive; nil: it is none. What was read of
// standard input to find out can be read again.
func archiveOf(con *Console, name string) (io.ReadCloser, error) {
	if hasScheme(name) {
		return nil, nil
	}
	if name == "-" {
		in := bufio.NewReaderSize(con.In, archiveStart)
		con.In = in
		if start, _ := in.Peek(archiveStart); warc.Begins(start) {
			return io.NopCloser(in), nil
		}
		return nil, nil
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil // reading the file will say what is wrong
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, plainError(name, err)
	}
	start := make([]byte, archiveStart)
	n, _ := io.ReadFull(f, start)
	if _, err := f.Seek(0, io.SeekStart); err != nil || !warc.Begins(start[:n]) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// archived prints the main text of the pages of a web archive, and says which records it cannot
// read.
func (f *extractFlags) archived(ctx context.Context, con Console, out io.Writer, in io.ReadCloser, name string) (failed int, err error) {
	defer in.Close()
	if f.html {
		return 0, usagef("extract: --html shows one page, and %s is a web archive: try --json", name)
	}
	damaged := func(err error) {
		fmt.Fprintf(con.Err, "skink: %s: %s\n", name, oneLine(err))
		failed++
	}
	err = replay.Pages(ctx, in, name, crawler.Defaults(), damaged, func(p *crawler.Page, _ store.Archived) error {
		if p.Problem != "" || p.Location != "" {
			return nil
		}
		doc, err := f.options().Parse(p.Body, p.Header.Get("Content-Type"))
		if err != nil {
			return nil // pictures and the like; archives are full of them
		}
		return f.print(out, p.Item.URL, doc)
	})
	return failed, err
}
