package field

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// Fuzz checks that written fields are read back, and that the fields that a truncated value lacks
// are zero. No value and no order of reads may cause a panic.
func Fuzz(f *testing.F) {
	f.Add(uint64(0), []byte("text"), byte(7), uint64(1<<63), 3)
	f.Add(uint64(1<<63), []byte{}, byte(0), uint64(1), -1)
	f.Add(uint64(300), []byte{0xff, 0x80}, byte(255), uint64(0), 1)
	f.Fuzz(func(t *testing.T, varint uint64, text []byte, one byte, eight uint64, cut int) {
		whole := binary.AppendUvarint(nil, varint)
		whole = append(binary.AppendUvarint(whole, uint64(len(text))), text...)
		whole = binary.BigEndian.AppendUint64(append(whole, one), eight)
		r := Reader{Rest: append(whole, "rest"...)}
		if v, b, c, e := r.Varint(), r.Bytes(r.Varint()), r.Byte(), r.Uint64(); v != varint || !bytes.Equal(b, text) || c != one || e != eight {
			t.Errorf("read %d, %q, %d, %d; want %d, %q, %d, %d", v, b, c, e, varint, text, one, eight)
		}
		if string(r.Rest) != "rest" || r.Bad {
			t.Errorf("rest is %q, bad %v", r.Rest, r.Bad)
		}

		if cut < 0 || cut >= len(whole) {
			return
		}
		r = Reader{Rest: whole[:cut]}
		r.Varint()
		r.Bytes(r.Varint())
		r.Byte()
		if last := r.Uint64(); last != 0 || !r.Bad || r.Rest != nil {
			t.Errorf("cut at %d: the last field is %d, bad %v, rest %q", cut, last, r.Bad, r.Rest)
		}

		r = Reader{Rest: text}
		for _, how := range whole {
			switch how % 4 {
			case 0:
				r.Varint()
			case 1:
				r.Bytes(varint)
			case 2:
				r.Byte()
			case 3:
				r.Uint64()
			}
			if r.Bad && r.Rest != nil {
				t.Fatal("a bad value has a rest")
			}
		}
	})
}
