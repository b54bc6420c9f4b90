package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// # What is kept beside a store
//
// A value that was made of the store's pages and can be made of them again, see [store.Keeper], is a
// hash k NAME, as a server answers others only between two commands, and a large value would keep
// them waiting:
//
//	of     which value it is, and in how many pieces: WORD/PIECES
//	WORD/N its piece N, of at most pieceSize bytes
//
// It is written as k NAME:WORD, which goes after halfLives unless it is whole by then, and then
// renamed. A reader that does not find a piece asks again: the value has given way to another.

const (
	pieceSize = 256 << 10
	halfLives = time.Hour
)

// Kept returns what was kept under a name.
func (s *Store) Kept(ctx context.Context, name string) ([]byte, error) {
	for range 3 {
		value, gone, err := s.keptNow(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("read what is kept as %s: %w", name, explain(err))
		}
		if !gone {
			return value, nil
		}
	}
	return nil, nil // whoever asks makes it himself
}

// keptNow reads a value piece by piece. gone says that it was replaced meanwhile.
func (s *Store) keptNow(ctx context.Context, name string) (value []byte, gone bool, err error) {
	field := func(name, field string) (string, error) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		return s.do(ctx, s.B().Hget().Key(s.global("k"+name)).Field(field).Build())[0].ToString()
	}
	of, err := field(name, "of")
	if rueidis.IsRedisNil(err) {
		return nil, false, nil
	}
	word, count, _ := strings.Cut(of, "/")
	pieces, countErr := strconv.Atoi(count)
	if err == nil && countErr != nil {
		err = countErr
	}
	if err != nil {
		return nil, false, err
	}
	value = []byte{}
	for n := range pieces {
		piece, err := field(name, word+"/"+strconv.Itoa(n))
		if err != nil {
			return nil, rueidis.IsRedisNil(err), ignoreNil(err)
		}
		value = append(value, piece...)
	}
	return value, false, nil
}

func ignoreNil(err error) error {
	if rueidis.IsRedisNil(err) {
		return nil
	}
	return err
}

// Keep keeps a value, also if the store is open to be read.
func (s *Store) Keep(ctx context.Context, name string, value []byte) error {
	word := rand.Text()
	whole := s.global("k" + name)
	half := whole + ":" + word
	write := func(cmds ...rueidis.Completed) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, result := range s.do(ctx, cmds...) {
			if err := result.Error(); err != nil {
				return fmt.Errorf("keep %s: %w", name, explain(err))
			}
		}
		return nil
	}
	pieces := 0
	for piece := range slices.Chunk(value, pieceSize) {
		err := write(
			s.B().Hset().Key(half).FieldValue().FieldValue(word+"/"+strconv.Itoa(pieces), string(piece)).Build(),
			s.B().Expire().Key(half).Seconds(int64(halfLives/time.Second)).Build())
		if err != nil {
			return err
		}
		pieces++
	}
	return write(
		s.B().Hset().Key(half).FieldValue().FieldValue("of", word+"/"+strconv.Itoa(pieces)).Build(),
		s.B().Rename().Key(half).Newkey(whole).Build(),
		s.B().Persist().Key(whole).Build())
}
