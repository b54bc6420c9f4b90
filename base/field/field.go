// Package field reads the fields of an encoded value one after another.
//
//	r := field.Reader{Rest: value}
//	depth, url := r.Varint(), r.Bytes(r.Varint())
//	if r.Bad {
//		return store.ErrCorrupt
//	}
package field

import "encoding/binary"

// A Reader splits an encoded value into its fields. If the value ends before a field does, the
// Reader sets Bad, and that field and all later ones are zero.
type Reader struct {
	Rest []byte // bytes that have not been read yet
	Bad  bool   // a field was incomplete or invalid
}

// Varint reads an unsigned varint as in encoding/binary.
func (r *Reader) Varint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Signed reads a signed varint as in encoding/binary.
func (r *Reader) Signed() int64 {
	n := r.Varint()
	return int64(n>>1) ^ -int64(n&1)
}

// Bytes reads n bytes. The result shares memory with the value.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Fail()
		return nil
	}
	head := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return head
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint64 reads eight bytes, big-endian.
func (r *Reader) Uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Fail marks the value as bad. Callers use it for fields with invalid values.
func (r *Reader) Fail() { r.Rest, r.Bad = nil, true }
