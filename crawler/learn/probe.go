package learn

import (
	"crypto/sha256"
	"slices"
	"strings"
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
	switch {
	case slices.Contains(replaced, base.last) || len(replaced) == 0 && len(base.params()) == 0:
		replaced = []int{base.last}
	default:
		same := func(url string) bool { return path(url) == path(urls[0]) }
		if replaced = slices.DeleteFunc(replaced, func(i int) bool { return i < base.last }); len(replaced) == 0 || !slices.ContainsFunc(others, same) {
			return ""
		}
	}
	for _, i := range replaced {
		p := &base.parts[i]
		p.value = nonsense(p.value, base.origin, p.name)
	}
	return base.String()
}

// tied reports whether URLs share a part that may identify their text. Such a part varies within
// the pattern, and no URL in others has it.
func tied(urls, others []string) bool {
	base := readURL(urls[0])
	varies := base.varying(urls)
	known := base.varying(slices.Concat(urls, others))
	for i, p := range base.parts {
		switch {
		case slices.Contains(varies, i), i == base.last: // if the last segment does not vary, urls has one element, or one path with different parameters
			continue
		case i < base.last && strings.ContainsAny(p.value, "0123456789"):
		case len(urls) > 1 && slices.Contains(known, i):
		default:
			continue
		}
		if !slices.ContainsFunc(others, func(url string) bool { return base.shares(readURL(url), i) }) {
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
	u, from := readURL(s.Probe), readURL(s.From)
	if len(u.params()) == 0 {
		return nil
	}
	same := slices.DeleteFunc(slices.Clone(u.params()), func(p component) bool { return !slices.Contains(from.params(), p) })
	path := u.parts[:u.last+1]
	u.parts = slices.Concat(path, same)
	urls = append(urls, u.String())
	u.parts = path
	return append(urls, u.String())
}

// A dividedURL is a canonical URL split into parts: the segments of its path, and then its parameters.
type dividedURL struct {
	origin string
	parts  []component
	last   int // index of the last segment of the path
}

// A component of a URL has a name, with the equals sign, if it is a parameter.
type component struct{ name, value string }

func readURL(url string) *dividedURL {
	p, query, hasQuery := strings.Cut(pathOf(url), "?")
	u := &dividedURL{origin: originOf(url)}
	segments := strings.Split(p, "/")
	if n := len(segments); n > 2 && segments[n-1] == "" { // a trailing slash belongs to the last segment
		segments = append(segments[:n-2], segments[n-2]+"/")
	}
	for _, s := range segments {
		u.parts = append(u.parts, component{"", s})
	}
	u.last = len(segments) - 1
	if hasQuery {
		for pair := range strings.SplitSeq(query, "&") {
			name, value, has := strings.Cut(pair, "=")
			if has {
				name += "="
			}
			u.parts = append(u.parts, component{name, value})
		}
	}
	return u
}

func (u *dividedURL) params() []component { return u.parts[u.last+1:] }

func (u *dividedURL) String() string {
	text, separator := u.origin, ""
	for i, p := range u.parts {
		switch {
		case i > u.last+1:
			separator = "&"
		case i == u.last+1:
			separator = "?"
		case i > 0:
			separator = "/"
		}
		text += separator + p.name + p.value
	}
	return text
}

func (u *dividedURL) shares(other *dividedURL, i int) bool {
	if i <= u.last {
		return i <= other.last && u.parts[i] == other.parts[i]
	}
	return slices.Contains(other.params(), u.parts[i])
}

// varying returns the indexes of the parts of u that are not the same in all URLs.
func (u *dividedURL) varying(urls []string) (parts []int) {
	for _, url := range urls {
		other := readURL(url)
		for i := range u.parts {
			if !u.shares(other, i) && !slices.Contains(parts, i) {
				parts = append(parts, i)
			}
		}
	}
	slices.Sort(parts)
	return parts
}

// nonsense returns a name that does not exist, in the same form as example: decimal digits,
// hexadecimal digits, or letters. It keeps the extension and a trailing slash.
func nonsense(example, origin, param string) string {
	const digits, hexDigits = "0123456789", "0123456789abcdef"
	stem, slash := strings.CutSuffix(example, "/")
	ext := ""
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 && len(stem)-dot <= 6 {
		stem, ext = stem[:dot], stem[dot:]
	}
	if slash {
		ext += "/"
	}
	sum := sha256.Sum256([]byte("a name that cannot exist on " + origin + " " + param))
	name := make([]byte, 12)
	isOf := func(set string) bool { return stem != "" && strings.Trim(stem, set) == "" }
	switch {
	case isOf(digits):
		name = make([]byte, max(9, min(len(stem), 18))) // a nine-digit number fits in 32 bits
		for i := range name {
			name[i] = digits[sum[i]%10]
		}
		name[0] = '9'
	case isOf(hexDigits) && len(stem) >= 8:
		name = make([]byte, min(len(stem), len(sum)))
		for i := range name {
			name[i] = hexDigits[sum[i]%16]
		}
	default:
		for i := range name {
			name[i] = 'a' + sum[i]%26
		}
	}
	return string(name) + ext
}

func path(url string) string {
	path, _, _ := strings.Cut(pathOf(url), "?")
	return path
}
