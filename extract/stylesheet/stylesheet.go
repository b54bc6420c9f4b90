// Package stylesheet finds the files that a style sheet refers to.
//
//	for href := range stylesheet.References(css) { … }
//
// It neither resolves nor fetches the references.
package stylesheet

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// References yields the references in a style sheet, or in the value of a style attribute, as
// written, but without quotes and escapes. They are the arguments of url() and the strings of
// @import and image-set(). An @namespace rule names no file, so its URL is left out.
//
// The tokens are those of CSS Syntax Level 3 (W3C), read by github.com/tdewolff/parse. Known
// weaknesses: the sheet is read as UTF-8, whatever @charset says, and src() is not supported.
func References(sheet []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		r := reader{}
		lexer := css.NewLexer(parse.NewInputBytes(bytes.Clone(sheet)))
		for {
			kind, token := lexer.Next()
			if kind == css.ErrorToken {
				return
			}
			if href := r.reference(kind, token); href != "" && !yield(href) {
				return
			}
		}
	}
}

type reader struct {
	rule  string // name of the at-rule whose prelude is being read, such as "@import"; "" if none
	depth int
	set   int // value of depth inside the innermost image-set(); 0 outside
}

func (r *reader) reference(kind css.TokenType, token []byte) string {
	switch kind {
	case css.AtKeywordToken:
		r.rule = strings.ToLower(string(token))
	case css.SemicolonToken, css.LeftBraceToken, css.RightBraceToken:
		*r = reader{}
	case css.LeftParenthesisToken:
		r.depth++
	case css.FunctionToken:
		r.depth++
		if name := strings.ToLower(string(token)); name == "image-set(" || name == "-webkit-image-set(" {
			r.set = r.depth
		}
	case css.RightParenthesisToken:
		if r.depth == r.set {
			r.set = 0
		}
		r.depth = max(r.depth-1, 0)
	case css.StringToken:
		imported := r.rule == "@import" && r.depth == 0
		if imported || r.set > 0 && r.depth == r.set {
			return unquoted(string(token))
		}
	case css.URLToken:
		if r.rule != "@namespace" {
			return address(string(token))
		}
	}
	return ""
}

const space = " \t\n\r\f"

func address(token string) string {
	_, argument, _ := strings.Cut(token, "(")
	argument = strings.Trim(strings.TrimSuffix(argument, ")"), space)
	if strings.HasPrefix(argument, `"`) || strings.HasPrefix(argument, "'") {
		return unquoted(argument)
	}
	return unescaped(argument)
}

// unquoted returns the value of a string token. A string at the end of a sheet may lack its closing
// quote.
func unquoted(token string) string {
	quote := token[:1]
	return strings.Trim(unescaped(strings.TrimSuffix(token[1:], quote)), space)
}

// unescaped replaces escapes. A backslash and up to six hexadecimal digits, plus a white-space
// character if one follows, become the code point with that number. A backslash before a line end
// is removed. A backslash before any other character becomes that character.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found || after == "" {
			return b.String()
		}
		digits := 0
		for digits < min(6, len(after)) && strings.IndexByte("0123456789abcdefABCDEF", after[digits]) >= 0 {
			digits++
		}
		switch {
		case digits > 0:
			code, _ := strconv.ParseUint(after[:digits], 16, 32)
			b.WriteRune(codePoint(rune(code)))
			s = withoutSpace(after[digits:])
		case strings.IndexByte("\n\r\f", after[0]) >= 0:
			s = withoutSpace(after)
		default:
			_, size := utf8.DecodeRuneInString(after)
			b.WriteString(after[:size])
			s = after[size:]
		}
	}
}

// codePoint returns the escaped code point, or the replacement character if CSS does not allow it.
func codePoint(r rune) rune {
	if r == 0 || !utf8.ValidRune(r) {
		return utf8.RuneError
	}
	return r
}

// withoutSpace removes one white-space character from the beginning of s. A CRLF pair counts as
// one.
func withoutSpace(s string) string {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return s[2:]
	case s != "" && strings.IndexByte(space, s[0]) >= 0:
		return s[1:]
	}
	return s
}
