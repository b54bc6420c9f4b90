package learn

import (
	"crypto/sha256"
	"slices"
	"strings"

	"skink/frontier"
)

// ProbeOf returns a URL that cannot exist, made from URLs of one pattern, all of which may be soft
// 404s. It replaces the parts in which these URLs differ: the last segment of the path or, if they
// share this segment, the values of parameters. Each new part has the form of the old one, because
// a program that expects a number responds differently to a word. The same URLs always give the
// same result.
//
// The URLs in others are pages of the pattern with other text. ProbeOf must not keep a part of the
// URL that alone identifies the text. For example, /item/17/red and /item/17/blue may be one page
// because only the 17 counts, and then /item/17/nonsense shows that page too. So each part that is
// kept must differ among the URLs, or also occur in one of the others. A parameter may also have no
// effect, so parameters are replaced only if one of the others has the same path. ProbeOf returns
// "" if these conditions are not met.
func ProbeOf(urls, others []string) string {
	if len(urls) == 0 || tied(urls, others) {
		return ""
	}
	base := readURL(urls[0])
	replaced := base.varying(urls)
	if len(replaced) == 0 {
		replaced = base.varying(slices.Concat(urls, others))
	}
	if slices.Contains(replaced, base.last) || len(replaced) == 0 && base.last == len(base.parts)-1 {
		replaced = []int{base.last}
	} else {
		same := func(url string) bool { return path(url) == path(urls[0]) }
		if replaced = slices.DeleteFunc(replaced, func(i int) bool { return i < base.last }); len(replaced) == 0 || !slices.ContainsFunc(others, same) {
			return ""
		}
	}
	for _, i := range replaced {
		p := &base.parts[i]
		name, value, found := strings.Cut(*p, "=")
		switch {
		case i == base.last:
			name, value = "/", (*p)[1:]
		case found:
			name += "="
		}
		*p = name + nonsense(value, base.origin, name[1:])
	}
	return base.String()
}

// tied reports whether URLs share a part that may identify their text. Such a part varies within
// the pattern, and no URL in others has it.
func tied(urls, others []string) bool {
	base := readURL(urls[0])
	varies, known := base.varying(urls), base.varying(slices.Concat(urls, others))
	for i, p := range base.parts {
		if i == base.last || slices.Contains(varies, i) { // if the last segment does not vary, urls has one element, or one path with different parameters
			continue
		}
		may := i < base.last && strings.ContainsAny(p, digits) || len(urls) > 1 && slices.Contains(known, i)
		if may && !slices.ContainsFunc(others, func(url string) bool { return base.shares(readURL(url), i) }) {
			return true
		}
	}
	return false
}

// isDefault reports whether a leader has the same path as a copy and fewer parameters. The extra
// parameters then change nothing, so the copy is not an error page.
func isDefault(leader, url string) bool {
	return hostOf(leader) == hostOf(url) && path(leader) == path(url) && len(readURL(leader).parts) < len(readURL(url).parts)
}

// defaults returns two URLs: the probe without its replaced parameters, and the probe without any
// parameters. If one of them has the same text as the response to the probe, the server ignores
// unknown values.
func (s *Soft) defaults() (urls []string) {
	u := readURL(s.Probe)
	if u.last == len(u.parts)-1 {
		return nil
	}
	for _, kept := range [][]string{readURL(s.From).parts, nil} {
		v := *u
		v.parts = slices.DeleteFunc(slices.Clone(u.parts), func(p string) bool { return p[0] == '&' && !slices.Contains(kept, p) })
		urls = append(urls, v.String())
	}
	return urls
}

// A dividedURL is a canonical URL split into parts: the segments of its path, each after a slash, and
// then its parameters, each after an ampersand. A trailing slash belongs to the last segment.
type dividedURL struct {
	origin string
	parts  []string
	last   int // index of the last segment of the path
}

func readURL(url string) *dividedURL {
	p, query, hasQuery := strings.Cut(pathOf(url), "?")
	u := &dividedURL{origin: frontier.Origin(url)}
	segments, slash := strings.CutSuffix(p[1:], "/")
	for s := range strings.SplitSeq(segments, "/") {
		u.parts = append(u.parts, "/"+s)
	}
	u.last = len(u.parts) - 1
	if slash {
		u.parts[u.last] += "/"
	}
	if hasQuery {
		for pair := range strings.SplitSeq(query, "&") {
			u.parts = append(u.parts, "&"+pair)
		}
	}
	return u
}

func (u *dividedURL) String() string {
	path, query := strings.Join(u.parts[:u.last+1], ""), strings.Join(u.parts[u.last+1:], "")
	if query != "" {
		query = "?" + query[1:]
	}
	return u.origin + path + query
}

func (u *dividedURL) shares(other *dividedURL, i int) bool {
	if i <= u.last {
		return i <= other.last && u.parts[i] == other.parts[i]
	}
	return slices.Contains(other.parts, u.parts[i])
}

// varying returns the indexes of the parts of u that are not the same in all URLs.
func (u *dividedURL) varying(urls []string) (parts []int) {
	for i := range u.parts {
		if slices.ContainsFunc(urls, func(url string) bool { return !u.shares(readURL(url), i) }) {
			parts = append(parts, i)
		}
	}
	return parts
}

const digits, hexDigits, letters = "0123456789", "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"

// nonsense returns a name that does not exist, in the same form as example: decimal digits,
// hexadecimal digits, or letters. It keeps the extension and a trailing slash.
func nonsense(example, origin, param string) string {
	stem, slash := strings.CutSuffix(example, "/")
	ext := ""
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 && len(stem)-dot <= 6 {
		stem, ext = stem[:dot], stem[dot:]
	}
	if slash {
		ext += "/"
	}
	sum := sha256.Sum256([]byte("a name that cannot exist on " + origin + " " + param))
	set, n := letters, 12
	isOf := func(set string) bool { return stem != "" && strings.Trim(stem, set) == "" }
	switch {
	case isOf(digits):
		set, n = digits, max(9, min(len(stem), 18)) // a nine-digit number fits in 32 bits
	case isOf(hexDigits) && len(stem) >= 8:
		set, n = hexDigits, min(len(stem), len(sum))
	}
	name := make([]byte, n)
	for i := range name {
		name[i] = set[int(sum[i])%len(set)]
	}
	if set == digits {
		name[0] = '9'
	}
	return string(name) + ext
}

func path(url string) string {
	path, _, _ := strings.Cut(pathOf(url), "?")
	return path
}
