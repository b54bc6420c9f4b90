package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Learned is the prefix of the names of values that a crawl learns again if they are lost. A store
// may protect them less than other values.
const Learned = "learned/"

// A MetaReader reads named values.
type MetaReader interface {
	// Meta returns the value with the given name, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// A MetaSwapper reads and replaces named values.
type MetaSwapper interface {
	MetaReader
	// SwapMeta atomically replaces the value of name if it still equals old. If old is nil, the
	// value must never have been set. If the value differs from old, SwapMeta writes nothing and
	// returns [ErrChanged].
	SwapMeta(ctx context.Context, name string, old, value []byte) error
}

// Meta stores named values, such as settings, seeds, and the positions of feeds. A value may have any
// size, but most are small, and a store keeps each one as a whole.
type Meta interface {
	MetaSwapper
	// SetMeta sets the value with the given name.
	SetMeta(ctx context.Context, name string, value []byte) error
}

// SameMeta reports whether two values returned by [Meta.Meta] are equal. A nil value means that the
// name was never set, and differs from an empty value.
func SameMeta(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// ReadMeta returns a value that is stored as JSON, or nil if it was never set. The argument what names
// the value in errors.
func ReadMeta[T any](ctx context.Context, s MetaReader, name, what string) (*T, error) {
	text, err := s.Meta(ctx, name)
	if err != nil {
		return nil, err
	}
	return parseMeta[T](text, what)
}

// MetaValue is like ReadMeta, but returns the zero value if the value was never set.
func MetaValue[T any](ctx context.Context, s MetaReader, name, what string) (value T, err error) {
	stored, err := ReadMeta[T](ctx, s, name, what)
	if stored != nil {
		value = *stored
	}
	return value, err
}

func parseMeta[T any](text []byte, what string) (*T, error) {
	if len(text) == 0 {
		return nil, nil
	}
	value := new(T)
	if err := json.Unmarshal(text, value); err != nil {
		return nil, fmt.Errorf("read %s: %w: %v", what, ErrCorrupt, err)
	}
	return value, nil
}

// WriteMeta stores a value as JSON.
func WriteMeta(ctx context.Context, s interface {
	SetMeta(ctx context.Context, name string, value []byte) error
}, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.SetMeta(ctx, name, text)
}

// ChangeMeta replaces a value that is stored as JSON by the result of change, which gets nil if the
// value was never set. If the result is nil, ChangeMeta writes nothing. If another process changes
// the value at the same time, ChangeMeta begins again with the new one.
func ChangeMeta[T any](ctx context.Context, s MetaSwapper, name, what string, change func(old *T) (*T, error)) error {
	for {
		text, err := s.Meta(ctx, name)
		if err != nil {
			return err
		}
		old, err := parseMeta[T](text, what)
		if err != nil {
			return err
		}
		value, err := change(old)
		if err != nil || value == nil {
			return err
		}
		next, err := json.Marshal(value)
		if err != nil || bytes.Equal(next, text) {
			return err
		}
		if err := s.SwapMeta(ctx, name, text, next); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

// An Alone records why the last run that sent requests to a host stopped before it had fetched all
// URLs of the host.
type Alone struct {
	Why    string    `json:"why"`
	At     time.Time `json:"at"`
	Turned int       `json:"turned,omitempty"` // number of successive runs that left the host alone because most of its pages had changed at once; 0 means another reason; see Why
}

const aloneName = "left alone"

// LeftAlone returns the hosts that a run stopped visiting before all their URLs were fetched, keyed
// by name. It omits hosts that a later run visited.
func LeftAlone(ctx context.Context, s MetaReader) (map[string]Alone, error) {
	return MetaValue[map[string]Alone](ctx, s, aloneName, "suspended hosts")
}

// ChangeAlone calls change with the stored map of hosts that were left alone, and stores the
// modified map; see [ChangeMeta].
func ChangeAlone(ctx context.Context, s Meta, change func(map[string]Alone)) error {
	return ChangeMeta(ctx, s, aloneName, "suspended hosts", func(hosts *map[string]Alone) (*map[string]Alone, error) {
		if hosts == nil {
			hosts = &map[string]Alone{}
		}
		change(*hosts)
		return hosts, nil
	})
}

// A Crawl identifies one of the crawls that filled a store. The first crawl creates the store, and
// each later crawl visits the pages again. A crawl may take several runs, because a run can be
// interrupted.
type Crawl struct {
	Number int       `json:"number"`         // 1 for the first crawl
	Began  time.Time `json:"began,omitzero"` // when the crawl began; may be zero for the first crawl
}

// crawlName is the name of the [Meta] value with the last crawl. A store without this value has had
// only one crawl.
const crawlName = "crawl"

// LastCrawl returns the last crawl of a store, which may still be running.
func LastCrawl(ctx context.Context, s MetaReader) (Crawl, error) {
	c, err := ReadMeta[Crawl](ctx, s, crawlName, lastCrawl)
	if c == nil {
		return Crawl{Number: 1}, err
	}
	return *c, nil
}

const lastCrawl = "the number of the last crawl" // in errors

// BeginCrawl records that a crawl began at the given time. If the last crawl began at that time,
// BeginCrawl changes nothing. In a store without records, the new crawl is the first.
func BeginCrawl(ctx context.Context, s Store, at time.Time) error {
	return ChangeMeta(ctx, s, crawlName, lastCrawl, func(last *Crawl) (*Crawl, error) {
		if last == nil {
			last = &Crawl{Number: 1}
		}
		if last.Began.Equal(at) {
			return nil, nil
		}
		tally, err := s.Tally(ctx)
		next := &Crawl{last.Number + 1, at.UTC()}
		if tally.Records() == 0 {
			next.Number = last.Number
		}
		return next, err
	})
}

const roundName = "last round"

// LastRound returns when the last round of visits began, or the zero time if no page has ever been
// revisited.
func LastRound(ctx context.Context, s MetaReader) (time.Time, error) {
	return MetaValue[time.Time](ctx, s, roundName, "the start time of the last round")
}

// SetLastRound records when the last round of visits began.
func SetLastRound(ctx context.Context, s Meta, at time.Time) error {
	return WriteMeta(ctx, s, roundName, at.UTC())
}
