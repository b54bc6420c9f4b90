package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"skink/dedup"
	"skink/internal/field"
)

// # Records of a temporary store
//
// Encoding a short record as JSON takes some 3 µs, and so does decoding it. For short texts, that
// is a seventh of a run's time. So a store that is deleted when the command ends keeps its records
// in a different form: a zero byte, which never begins JSON, and the fields that are not empty.
// Each field is its index in the struct Record, in one byte, and then its value. Booleans and
// numbers are varints. All other values are bytes preceded by their length: strings and hashes as
// they are, times as in RFC 3339, and lists and structs as JSON.
//
// The form changes with the struct, so another version of the program could not read it.

const fastRecord = 0 // the byte before the fields

// AppendFast appends the record to b in the form used by stores that are deleted when the command
// ends. [UnpackRecord] decodes this form to the same record as the record's JSON.
func (r *Record) AppendFast(b []byte) ([]byte, error) {
	b = append(b, fastRecord)
	fields := reflect.ValueOf(r).Elem()
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		b = append(b, byte(i))
		switch f.Kind() {
		case reflect.Bool:
			b = append(b, 1)
		case reflect.Int, reflect.Int64:
			b = binary.AppendVarint(b, f.Int())
		case reflect.Uint64:
			b = binary.AppendUvarint(b, f.Uint())
		case reflect.Float64:
			b = binary.AppendUvarint(b, math.Float64bits(f.Float()))
		case reflect.String:
			s := f.String()
			if !utf8.ValidString(s) {
				s = string([]rune(s)) // as in JSON, U+FFFD replaces each invalid byte
			}
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		default:
			value, err := packedField(f.Addr().Interface())
			if err != nil {
				return nil, err
			}
			b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
		}
	}
	return b, nil
}

func packedField(f any) ([]byte, error) {
	switch f := f.(type) {
	case *dedup.Hash:
		return f[:], nil
	case *time.Time:
		return f.MarshalText()
	}
	return json.Marshal(f)
}

func unpackField(f any, value []byte) error {
	switch f := f.(type) {
	case *dedup.Hash:
		if len(value) != len(f) {
			return fmt.Errorf("hash of %d bytes", len(value))
		}
		copy(f[:], value)
		return nil
	case *time.Time:
		return f.UnmarshalText(value)
	}
	return json.Unmarshal(value, f)
}

// unpackFast is the inverse of AppendFast. The argument packed begins after the zero byte.
func (r *Record) unpackFast(packed []byte) error {
	fields := reflect.ValueOf(r).Elem()
	d := field.Reader{Rest: packed}
	for len(d.Rest) > 0 {
		i := int(d.Byte())
		if i >= fields.NumField() {
			return fmt.Errorf("%w: record: field %d", ErrCorrupt, i)
		}
		n := d.Varint()
		switch f := fields.Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(n == 1)
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(n>>1) ^ -int64(n&1)) // as binary.Varint does
		case reflect.Uint64:
			f.SetUint(n)
		case reflect.Float64:
			f.SetFloat(math.Float64frombits(n))
		case reflect.String:
			f.SetString(string(d.Bytes(n)))
		default:
			if err := unpackField(f.Addr().Interface(), d.Bytes(n)); err != nil {
				return fmt.Errorf("%w: record: field %d: %v", ErrCorrupt, i, err)
			}
		}
	}
	if d.Bad {
		return fmt.Errorf("%w: record: too short", ErrCorrupt)
	}
	return nil
}
