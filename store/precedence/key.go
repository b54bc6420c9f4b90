package precedence

import "encoding/binary"

// Key appends to dst a key of a standing without [Standing.Seen]. Keys have one length, and are in
// the order of [Compare] as byte strings. Pages with equal keys are in the order of their URLs.
func (s *Standing) Key(dst []byte) []byte {
	dst = append(dst, digit(s.NoIndex), digit(s.Private))
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Place)+1<<31)
	dst = append(dst, digit(!s.Listed), digit(!isHTTPS(s.URL)), digit(s.OtherLang))
	return binary.BigEndian.AppendUint32(dst, uint32(pathLen(s.URL)))
}

func digit(last bool) byte {
	if last {
		return 1
	}
	return 0
}
