package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

const bom = "\uFEFF" // some editors write one

// beginsAsLines says whether a file is JSON Lines, and returns what it had to read
// of it. A name may say so; that of HTML says no; else the first line that is not
// blank decides: an object with a text, or with what else a line may hold.
func beginsAsLines(name string, b *bufio.Reader) (head []byte, yes bool, err error) {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".jsonl" || ext == ".ndjson":
		return nil, true, nil
	case isHTML(TypeOf(name)):
		return nil, false, nil
	}
	if start, _ := b.Peek(512); !mayBeObject(start) {
		return nil, false, nil
	}
	for {
		raw, err := b.ReadBytes('\n')
		head = append(head, raw...)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		if raw := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte(bom))); len(raw) > 0 || err != nil {
			return head, isLine(raw), nil
		}
	}
}

// mayBeObject says whether a file may begin with an object, by its first bytes.
func mayBeObject(start []byte) bool {
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte(bom)))
	return len(start) == 0 || start[0] == '{'
}

// isLine says whether a line is one of JSON Lines that hold texts.
func isLine(raw []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	isString := func(name string) bool { return bytes.HasPrefix(members[name], []byte(`"`)) }
	return isString("text") || isString("url") && (isString("html") || isString("verdict"))
}

// A line of a JSON Lines file.
type line struct {
	URL     string  `json:"url"`
	Text    *string `json:"text"`
	HTML    *string `json:"html"`
	Verdict string  `json:"verdict"` // of a line that skink export wrote
}

// readLines yields the texts of a JSON Lines file, a line at a time.
func readLines(i input, in *bufio.Reader, yield func(File, error) bool, failed func(error) bool) bool {
	for n := 1; ; n++ {
		raw, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return failed(err)
		}
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte(bom))
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			file, err := parseLine(raw)
			if err != nil {
				return yield(File{}, fmt.Errorf("%s, line %d: %w", i, n, err))
			}
			file.Source = fmt.Sprintf("%s:%d", i, n)
			if !yield(file, nil) {
				return false
			}
		}
		if err != nil {
			return true
		}
	}
}

func parseLine(raw []byte) (File, error) {
	var l line
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &l); {
	case errors.As(err, &kind) && kind.Field != "":
		return File{}, fmt.Errorf(`%q is a %s and should be a string`, kind.Field, kind.Value)
	case errors.As(err, &kind):
		return File{}, fmt.Errorf(`%s where an object should be: try {"url","text"} or {"url","html"}`, kind.Value)
	case err != nil:
		return File{}, fmt.Errorf(`no JSON: %w: try an object {"url","text"} or {"url","html"} a line`, err)
	case l.URL == "":
		return File{}, errors.New(`"url" is missing: try {"url","text"} or {"url","html"}`)
	case l.Text != nil:
		return fileOf(l.URL, []byte(*l.Text), "text/plain; charset=utf-8"), nil
	case l.HTML != nil:
		return fileOf(l.URL, []byte(*l.HTML), "text/html; charset=utf-8"), nil
	case l.Verdict != "": // a feed leaves out what a page has not, or what was not kept of it
		return File{URL: l.URL}, nil
	}
	return File{}, errors.New(`"text" is missing: try {"url","text"} or {"url","html"}`)
}
