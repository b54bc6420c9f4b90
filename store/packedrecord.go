package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"skink/base/field"
	"skink/dedup"
)

// # Packed records
//
// A store in a folder keeps records in a binary form. Encoding and decoding a record takes a fifth
// of the time that JSON takes, and a report spends most of its time on decoding. The form is a zero
// byte, which never begins JSON, followed by the struct Record.
//
// A struct is a list of its fields that are not empty, and then a zero byte. Each field is its index
// in the struct plus one, in one byte, and then its value. Numbers are varints, and so are the bits
// of a float64. A string, or a slice of bytes, is its length and its bytes. A time is its seconds
// since 1970 and its nanoseconds; its time zone is lost. A hash is its 16 bytes, any other array its
// elements, and any other slice its length and its elements. A map is its length, and its keys and
// values in any order. The ids of the page and of its leader are left out, because they
// are the hashes of their URLs.
//
// Any change to the fields requires a new version of the layout of stores, because an older skink
// cannot read a record with a field that it does not know; see TestPackedForms.

const packedForm = 0 // the byte before the fields

// AppendPacked appends a record to b in packed form. [UnpackRecord] returns the same record from it
// as from the record's JSON, but with all times in UTC.
func (r *Record) AppendPacked(b []byte) []byte {
	short := *r
	if short.ID == idOf(short.URL) {
		short.ID = dedup.Hash{}
	}
	if short.Leader == idOf(short.DuplicateOf) {
		short.Leader = dedup.Hash{}
	}
	return appendStruct(append(b, packedForm), reflect.ValueOf(&short).Elem(), reflect.Value{})
}

// AppendUpdate appends the fields of r that differ from those of before, as a struct in packed form.
// A field that has become empty is in the list with its empty value. [Record.Update] is the inverse.
//
// A visit that finds a page unchanged changes a few fields of its record, such as the time. A store
// keeps them as an update beside the record, so that it does not write the record again.
func (r *Record) AppendUpdate(b []byte, before *Record) []byte {
	return appendStruct(b, reflect.ValueOf(r).Elem(), reflect.ValueOf(before).Elem())
}

// Update sets the fields that an update lists. It does not change slices that r had before.
func (r *Record) Update(update []byte) error {
	if len(update) == 0 {
		return nil
	}
	return r.readPacked(update)
}

// Updated returns the packed form or the JSON of a record with an update appended. [UnpackRecord]
// applies the update.
func Updated(record, update []byte) []byte {
	switch {
	case len(update) == 0:
		return record
	case record[0] == packedForm: // a field that is listed twice has its second value
		return append(record[:len(record)-1:len(record)-1], update...)
	}
	return append(append(record[:len(record):len(record)], packedForm), update...) // JSON has no zero byte
}

// idOf returns the id of the page at a URL. It returns the zero value if the URL is empty, or if
// the packed form would change it.
func idOf(url string) dedup.Hash {
	if url == "" || !utf8.ValidString(url) {
		return dedup.Hash{}
	}
	return dedup.HashOf([]byte(url))
}

// AppendStruct appends the struct to which v points to b in packed form. A store in a folder keeps the
// URLs of the queue and its counters in this form.
func AppendStruct[T any](b []byte, v *T) []byte {
	return appendStruct(b, reflect.ValueOf(v).Elem(), reflect.Value{})
}

// UnpackStruct is the inverse of AppendStruct.
func UnpackStruct[T any](packed []byte) (v T, err error) {
	d := field.Reader{Rest: packed}
	if readStruct(&d, reflect.ValueOf(&v).Elem()); d.Bad {
		err = fmt.Errorf("%w: a %T cannot be decoded", ErrCorrupt, v)
	}
	return v, err
}

// appendStruct appends the fields of v that differ from those of before. If before is the zero Value, it
// appends the fields that are not empty.
func appendStruct(b []byte, v, before reflect.Value) []byte {
	for i := range v.NumField() {
		f, was := v.Field(i), reflect.Value{}
		if before.IsValid() {
			was = before.Field(i)
		}
		if same(f, was) {
			continue
		}
		whole := len(b)
		if b = append(b, byte(i+1)); !was.IsValid() || !isFields(f) {
			b = appendValue(b, f)
		} else if b = appendStruct(b, f, was); len(b) == whole+2 { // no field differs
			b = b[:whole]
		}
	}
	return append(b, 0)
}

func same(f, was reflect.Value) bool {
	switch {
	case f.Kind() == reflect.Slice && f.Len() == 0:
		return !was.IsValid() || was.Len() == 0
	case !was.IsValid():
		return f.IsZero()
	case isFields(f):
		return false // its fields are compared one by one
	case f.Kind() == reflect.Slice:
		return f.Len() == was.Len() && (f.UnsafePointer() == was.UnsafePointer() || reflect.DeepEqual(f.Interface(), was.Interface()))
	}
	return f.Equal(was)
}

// isFields reports whether a value is a struct whose fields are packed one by one.
func isFields(v reflect.Value) bool {
	return v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]()
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint8, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float64:
		return binary.AppendUvarint(b, math.Float64bits(v.Float()))
	case reflect.String:
		s := v.String()
		if !utf8.ValidString(s) {
			s = string([]rune(s)) // as in JSON, U+FFFD replaces each invalid byte
		}
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(b, v.Bytes()...)
		}
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	}
	if v.Kind() == reflect.Map { // of numbers
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for each := v.MapRange(); each.Next(); {
			b = appendValue(appendValue(b, each.Key()), each.Value())
		}
		return b
	}
	switch f := v.Addr().Interface().(type) {
	case *dedup.Hash:
		return append(b, f[:]...)
	case *time.Time:
		return binary.AppendUvarint(binary.AppendVarint(b, f.Unix()), uint64(f.Nanosecond()))
	}
	if v.Kind() == reflect.Array {
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	}
	return appendStruct(b, v, reflect.Value{})
}

// unpackPacked is the inverse of AppendPacked. The argument packed begins after packedForm.
func (r *Record) unpackPacked(packed []byte) error {
	if err := r.readPacked(packed); err != nil {
		return err
	}
	if r.ID.IsZero() {
		r.ID = idOf(r.URL)
	}
	if r.Leader.IsZero() {
		r.Leader = idOf(r.DuplicateOf)
	}
	return nil
}

func (r *Record) readPacked(packed []byte) error {
	d := field.Reader{Rest: packed}
	if readStruct(&d, reflect.ValueOf(r).Elem()); d.Bad {
		return fmt.Errorf("%w: a record cannot be decoded", ErrCorrupt)
	}
	return nil
}

func readStruct(d *field.Reader, v reflect.Value) {
	for {
		i := int(d.Byte())
		switch {
		case i == 0: // the end of the fields, or of damaged data
			return
		case i > v.NumField():
			d.Fail()
			return
		}
		readValue(d, v.Field(i-1))
	}
}

func readValue(d *field.Reader, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.Byte() == 1)
		return
	case reflect.Int, reflect.Int64:
		v.SetInt(d.Signed())
		return
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(d.Varint())
		return
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(d.Varint()))
		return
	case reflect.String:
		v.SetString(string(d.Bytes(d.Varint())))
		return
	case reflect.Slice:
		readSlice(d, v)
		return
	case reflect.Map:
		readMap(d, v)
		return
	}
	switch f := v.Addr().Interface().(type) {
	case *dedup.Hash:
		copy(f[:], d.Bytes(uint64(len(f))))
	case *time.Time:
		seconds, nanoseconds := d.Signed(), d.Varint()
		*f = time.Unix(seconds, int64(nanoseconds)).UTC()
	default:
		if v.Kind() == reflect.Struct {
			readStruct(d, v)
			return
		}
		for i := range v.Len() { // an array
			readValue(d, v.Index(i))
		}
	}
}

func readMap(d *field.Reader, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for n := d.Varint(); n > 0 && !d.Bad; n-- {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		readValue(d, key)
		readValue(d, value)
		v.SetMapIndex(key, value)
	}
}

func readSlice(d *field.Reader, v reflect.Value) {
	n := d.Varint()
	if n > uint64(len(d.Rest)) { // an element has at least one byte
		d.Fail()
		return
	}
	if n == 0 {
		v.SetZero()
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(append([]byte{}, d.Bytes(n)...))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	for i := range int(n) {
		readValue(d, v.Index(i))
	}
}
