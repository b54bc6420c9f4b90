package extract

import (
	"regexp"
	"strings"
)

// Links tells [RewriteLinks] which parts of a link to keep.
type Links string

const (
	LinksNone  Links = "none"     // remove the words and the address
	LinksText  Links = "text"     // keep the words
	LinksWhole Links = "absolute" // keep the words and the address, as [Document.Markdown] wrote them
)

// RewriteLinks applies keep to each link in markdown, which must come from [Document.Markdown], and
// returns the new text. Images stay unless they are inside a removed link. Lines that contained
// only removed links are removed.
func RewriteLinks(markdown string, keep Links) string {
	if keep == LinksWhole || !strings.Contains(markdown, "](") {
		return markdown
	}
	var out []string
	fence := "" // backticks that end the open code block; "" outside a code block
	for line := range strings.SplitSeq(markdown, "\n") {
		prefix := containerMarks.FindString(line)
		rest := line[len(prefix):]
		ticks := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
		switch {
		case fence != "":
			if strings.TrimLeft(line, "> ") == fence {
				fence = ""
			}
		case len(ticks) >= 3:
			fence = ticks
		default:
			text := strings.TrimRight(rewriteLine(rest, keep), " ")
			if text == "" && rest != "" {
				continue
			}
			if text != rest {
				line = prefix + guardUnlinked(rest, text)
			}
			if rest == "" && len(out) > 0 && strings.Trim(out[len(out)-1], "> ") == "" {
				continue // the line between the two empty lines was removed
			}
		}
		out = append(out, line)
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// containerMarks matches the marks of quotations and list items at the beginning of a line.
var containerMarks = regexp.MustCompile(`^(?:> ?| |[-*] |[0-9]{1,9}[.)] )*`)

// guardUnlinked escapes the start of a line from which a link was removed. Without the link, the
// first character could be read as Markdown.
func guardUnlinked(old, text string) string {
	if strings.HasPrefix(old, "[") {
		return guardStart(text)
	}
	return text
}

func rewriteLine(line string, keep Links) string {
	var out strings.Builder
	for i := 0; i < len(line); {
		n := spanAt(line[i:])
		if line[i] != '[' || n == 1 {
			out.WriteString(line[i : i+n])
			i += n
			continue
		}
		words := line[i+1 : i+closing(line[i:])]
		switch {
		case keep == LinksText:
			out.WriteString(words)
		case strings.HasSuffix(out.String(), " ") || out.Len() == 0: // keep only one of the two spaces around the link
			for i+n < len(line) && line[i+n] == ' ' {
				n++
			}
		}
		i += n
	}
	return out.String()
}

// spanAt returns the length of the escaped character, code, image or link at the beginning of a
// line, or 1 if the line begins with any other character.
func spanAt(line string) int {
	switch line[0] {
	case '\\':
		return min(2, len(line))
	case '`':
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		for i := len(ticks); i < len(line); {
			j := strings.IndexByte(line[i:], '`')
			if j < 0 {
				break
			}
			i += j
			run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			if run == len(ticks) {
				return i + run
			}
			i += run
		}
		return len(ticks)
	case '!':
		if strings.HasPrefix(line, "![") {
			if n := linkAt(line[1:]); n > 0 {
				return 1 + n
			}
		}
	case '[':
		if n := linkAt(line); n > 0 {
			return n
		}
	}
	return 1
}

// linkAt returns the length of the link at the beginning of a line, or 0 if there is none. The line
// must begin with a bracket.
func linkAt(line string) int {
	end := closing(line)
	if end == 0 || !strings.HasPrefix(line[end:], "](") {
		return 0
	}
	for i := end + 2; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case ')':
			return i + 1
		}
	}
	return 0
}

// closing returns the index of the bracket that closes the bracket at the beginning of a line, or 0
// if there is none.
func closing(line string) int {
	for i := 1; i < len(line); {
		if line[i] == ']' {
			return i
		}
		if line[i] == '[' {
			return 0 // links are not nested
		}
		i += spanAt(line[i:])
	}
	return 0
}
