package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/store"
)

// The values of the column kind in the table meta: settings that are part of the store, and cached
// results that can be computed again.
const (
	metaKind = 0
	keptKind = 1
)

func (s *Store) Meta(ctx context.Context, name string) ([]byte, error) {
	return s.value(ctx, metaKind, name)
}

func (s *Store) Kept(ctx context.Context, name string) ([]byte, error) {
	return s.value(ctx, keptKind, name)
}

func (s *Store) value(ctx context.Context, kind int, name string) (v []byte, err error) {
	err = s.try(ctx, func(ctx context.Context) error {
		v = nil
		err := s.pool.QueryRow(ctx, "SELECT value FROM meta WHERE kind = $1 AND name = $2", kind, name).Scan(&v)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return v, err
}

func (s *Store) SetMeta(ctx context.Context, name string, v []byte) error {
	return s.set(ctx, metaKind, name, v)
}

func (s *Store) Keep(ctx context.Context, name string, v []byte) error {
	return s.set(ctx, keptKind, name, v)
}

func (s *Store) set(ctx context.Context, kind int, name string, v []byte) error {
	_, err := s.exec(ctx, "INSERT INTO meta (kind, name, value) VALUES ($1, $2, $3) ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value", kind, name, list(v))
	return err
}

// SwapMeta sets a value if the current value equals old. If the response to an earlier attempt was
// lost and the value already equals v, it assumes that the earlier attempt set it.
func (s *Store) SwapMeta(ctx context.Context, name string, old, v []byte) error {
	sql, args := "UPDATE meta SET value = $2 WHERE kind = 0 AND name = $1 AND value = $3", []any{name, list(v), old}
	if old == nil {
		sql, args = "INSERT INTO meta (kind, name, value) VALUES (0, $1, $2) ON CONFLICT DO NOTHING", args[:2]
	}
	attempts, swapped := 0, false
	err := s.try(ctx, func(ctx context.Context) error {
		attempts++
		tag, err := s.pool.Exec(ctx, sql, args...)
		swapped = err == nil && tag.RowsAffected() == 1
		return err
	})
	if err != nil || swapped {
		return err
	}
	if attempts > 1 {
		if now, err := s.Meta(ctx, name); err != nil || store.SameMeta(now, list(v)) {
			return err
		}
	}
	return store.ErrChanged
}

// sweepName is the name under which the table meta stores the ID of the last visit that a sweep
// checked.
const sweepName = "swept"

// sweep deletes the visits that interrupted commits left behind: those that no page refers to and
// that are older than a day. A sweep continues where the last one ended. It ends at the first
// error, and the next process that starts tries again.
func (s *Store) sweep() {
	ctx := s.life
	for s.sweepSome(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const sweepSQL = `WITH old AS (SELECT id FROM visit WHERE id > $1 AND written < now() - interval '1 day' ORDER BY id LIMIT 1000),
 gone AS (DELETE FROM visit USING old WHERE visit.id = old.id AND NOT EXISTS (SELECT FROM page WHERE page.id = visit.page AND page.visit = visit.id) RETURNING visit.id)
 SELECT (SELECT id FROM old ORDER BY id DESC LIMIT 1), (SELECT count(*) FROM gone)`

func (s *Store) sweepSome(ctx context.Context) bool {
	var after id
	text, err := s.value(ctx, metaKind, sweepName)
	if err != nil {
		return false
	}
	copy(after[:], text)
	var last *id
	var gone int
	if err := s.pool.QueryRow(ctx, sweepSQL, after).Scan(&last, &gone); err != nil || last == nil {
		return false
	}
	return s.SetMeta(ctx, sweepName, last[:]) == nil
}
