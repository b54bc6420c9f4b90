package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"skink/frontier"
	"skink/store"
)

var tables = []string{"turn", "slot", "visit", "page", "posting", "run", "known", "queue", "host", "worker", "counter", "meta", "pages", "waiting"}

// Drop deletes a store together with its schema. It also deletes a store that was emptied, or that
// was created by another version of skink. It returns an error that wraps [store.ErrNotExist] if
// there is no store, or [store.ErrInUse] if a worker is using it. A killed worker counts as present
// for some seconds, so Drop waits for those that have no host. Drop refuses a schema with tables that
// do not belong to a store.
func Drop(ctx context.Context, a Address) error {
	err := once(ctx, a, func(conn *pgx.Conn) error {
		err := mayDrop(ctx, conn, a)
		if err == nil {
			_, err = conn.Exec(ctx, "DROP SCHEMA "+a.quoted()+" CASCADE")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("drop store %s: %w", a, err)
	}
	return nil
}

// Beside returns the address of a schema in the same database for a store that will replace that of a.
func (a Address) Beside() Address {
	a.schema, a.config = a.schema[:min(len(a.schema), 55)]+"_rewrite", a.config.Copy()
	a.config.ConnConfig.RuntimeParams["search_path"] = a.quoted()
	return a
}

func (a Address) quoted() string { return pgx.Identifier{a.schema}.Sanitize() }

// Replace gives the name of one store's schema to the schema of another, which must be closed. It
// drops the first store as [Drop] does, if it exists. It returns [store.ErrInUse] if the number of
// commits differs.
func Replace(ctx context.Context, a, by Address) error {
	err := once(ctx, a, func(conn *pgx.Conn) error {
		exists := mayDrop(ctx, conn, a)
		if exists != nil && !errors.Is(exists, store.ErrNotExist) {
			return exists
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			same, cascade := true, ""
			if exists == nil {
				cascade = " CASCADE" // without it, tables of others are not dropped
				err = tx.QueryRow(ctx, "SELECT place = (SELECT place FROM "+by.quoted()+".turn) FROM turn FOR UPDATE").Scan(&same)
			}
			switch {
			case err != nil:
				return err
			case !same:
				return store.ErrInUse
			}
			_, err = tx.Exec(ctx, "DROP SCHEMA IF EXISTS "+a.quoted()+cascade+"; ALTER SCHEMA "+by.quoted()+" RENAME TO "+a.quoted())
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("replace store %s: %w", a, err)
	}
	return nil
}

// Lock waits until no other process has locked the store, and locks it until release is called. It locks nothing if
// the server has no advisory locks, or cannot be reached, which [Open] explains. Only Lock observes the lock.
func Lock(ctx context.Context, a Address) (release func(), err error) {
	conn, err := pgx.ConnectConfig(ctx, a.config.ConnConfig.Copy())
	if err != nil {
		return func() {}, ctx.Err()
	}
	release = func() { _ = conn.Close(context.WithoutCancel(ctx)) }
	if _, err = conn.Exec(ctx, "BEGIN"); err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", a.schema) // of a transaction, so that it works with a connection pooler
	}
	if err != nil && codeOf(err) != "0A000" && codeOf(err) != "42883" {
		release()
		return nil, fmt.Errorf("lock store %s: %w", a, err)
	}
	return release, nil
}

// mayDrop returns the error of [Drop] if the schema of a must not be dropped.
func mayDrop(ctx context.Context, conn *pgx.Conn, a Address) error {
	rows, err := conn.Query(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = $1 ORDER BY table_name", a.schema)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if !slices.Contains(names, "turn") || !slices.Contains(names, "visit") {
		return store.ErrNotExist
	}
	for _, name := range names {
		if !slices.Contains(tables, name) {
			return fmt.Errorf("the schema %s has a table or view %s that does not belong to skink: drop that table or view first", a.schema, name)
		}
	}
	return awaitUnused(ctx, conn)
}

// leaving is how long Drop waits for workers without hosts, which may have been killed.
var leaving = 2 * frontier.Present

// awaitUnused returns nil when no worker uses the store. It returns [store.ErrInUse] at once if one
// has claimed a host, or later if one is still present.
func awaitUnused(ctx context.Context, conn *pgx.Conn) error {
	for until := time.Now().Add(leaving); ; {
		var held, some bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM host WHERE worker IS NOT NULL AND until > now()), EXISTS (SELECT FROM worker WHERE "+present+")").Scan(&held, &some)
		switch {
		case err != nil:
			return err
		case held, some && time.Now().After(until):
			return store.ErrInUse
		case !some:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(frontier.Present / 10):
		}
	}
}

func once(ctx context.Context, a Address, do func(*pgx.Conn) error) error {
	pool, err := pgxpool.NewWithConfig(ctx, a.config.Copy())
	if err != nil {
		return err
	}
	defer pool.Close()
	return (&Store{address: a}).tryFor(ctx, openPatience, func(ctx context.Context) error {
		return pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { return do(conn.Conn()) })
	})
}

// Size returns the number of bytes that each table of the store occupies with its indexes, or nil if the
// server does not report it.
func (s *Store) Size(ctx context.Context) (bytes map[string]int64) {
	const sql = `SELECT coalesce(json_object_agg(table_name, pg_total_relation_size(format('%I.%I', table_schema, table_name)::regclass)), '{}')
 FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'`
	if err := s.pool.QueryRow(ctx, sql, s.address.schema).Scan(&bytes); err != nil {
		return nil // some databases that speak PostgreSQL's protocol lack this function
	}
	return bytes
}
