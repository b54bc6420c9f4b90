package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"skink/base/segment"
)

const segmentsKey = "segments"

// segments takes the section of the segments. Their expressions contain no variables.
func (p *parser) segments(section table) error {
	if section == nil {
		return errors.New(`segments: write a section, [segments], with lines such as docs = "^/docs/"`)
	}
	return p.each([]string{segmentsKey}, section, func(path []string, v any) error {
		name := path[1]
		text, isText := v.(string)
		expr, err := regexp.Compile(text)
		switch {
		case strings.TrimSpace(name) == "" || strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("segment %q: the name is blank, or not one line of text", name)
		case !isText:
			return fmt.Errorf("segment %s: must be a string, a regular expression for the path of a URL", name)
		case err != nil:
			return fmt.Errorf("segment %s: %w", name, err)
		}
		p.file.Segments = append(p.file.Segments, segment.Segment{Name: name, Path: expr})
		return nil
	})
}

// appendSegments appends the section of the segments to a copy of a file, in the order of the file.
func appendSegments(copied []byte, segments table, at places) ([]byte, error) {
	copied = append(copied, "\n["+segmentsKey+"]\n"...)
	for _, name := range (&parser{lines: at}).keys([]string{segmentsKey}, segments) {
		line, err := toml.Marshal(table{name: segments[name]})
		if err != nil {
			return nil, err
		}
		copied = append(copied, line...)
	}
	return copied, nil
}
