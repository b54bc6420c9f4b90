package extract

import "bytes"

// explodes reports markup whose tree would be out of all proportion. The standard has formatting elements that were never closed
// opened again in every paragraph: 400 <font> and 20,000 <p>, 200 KB, become eight million nodes. An estimate from the tags alone is
// enough: honest pages leave a handful open.
func explodes(text []byte) bool {
	const budget = 4 << 20 // nodes, some 500 MB
	open, most, tags := 0, 0, 0
	for i := 0; ; {
		j := bytes.IndexByte(text[i:], '<')
		if j < 0 {
			break
		}
		i += j + 1
		tags++
		closing := i < len(text) && text[i] == '/'
		if closing {
			i++
		}
		if formatting(text[i:]) {
			if closing {
				open = max(open-1, 0)
			} else if open++; open > most {
				most = open
			}
		}
	}
	return most > 50 && most*tags > budget
}

// formatting reports one of the standard's formatting elements by its name.
func formatting(rest []byte) bool {
	n := 0
	for n < len(rest) && n < 7 && 'a' <= rest[n]|0x20 && rest[n]|0x20 <= 'z' {
		n++
	}
	switch string(bytes.ToLower(rest[:n])) {
	case "a", "b", "i", "u", "s", "big", "code", "em", "font", "nobr", "small", "strike", "strong", "tt":
		return true
	}
	return false
}
