package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// An Address says where a store is: postgres://USER@HOST:PORT[,HOST:PORT]/DATABASE?schema=NAME, where
// NAME is the schema that holds it. All other parameters are those of libpq, such as sslmode. A
// password is better given in PGPASSWORD or a password file, as psql takes it.
type Address struct {
	schema string
	shown  string // without the password
	config *pgxpool.Config
}

const defaultSchema = "skink"

// IsAddress says whether a store is named as one on a PostgreSQL server.
func IsAddress(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// validSchema is what a schema may be called, so that people rarely need to quote it.
var validSchema = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// ParseAddress reads the address of a store. Its errors never contain a password.
func ParseAddress(text string) (Address, error) {
	if !IsAddress(text) {
		return Address{}, errors.New("the address of a store begins with postgres://")
	}
	base, query, _ := strings.Cut(text, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	credentials, rest, found := cutLast(rest, "@")
	user, _, _ := strings.Cut(credentials, ":")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return Address{}, errors.New("the parameters of the store's address cannot be read: write postgres://USER@HOST:PORT/DATABASE?schema=NAME")
	}
	schema := parameters.Get("schema")
	if schema == "" {
		schema = defaultSchema
	}
	if !validSchema.MatchString(schema) || strings.HasPrefix(schema, "pg_") {
		return Address{}, fmt.Errorf("schema=%s: use lower-case letters, digits and underscores", schema)
	}
	parameters.Del("schema")
	shown := scheme + "://" + rest + "?schema=" + schema
	if found {
		shown = scheme + "://" + user + "@" + rest + "?schema=" + schema
	}
	if _, database, _ := strings.Cut(rest, "/"); database == "" {
		return Address{}, fmt.Errorf("%s names no database: write postgres://USER@HOST:PORT/DATABASE?schema=NAME", shown)
	}
	if parameters.Get("connect_timeout") == "" {
		parameters.Set("connect_timeout", "10")
	}
	config, err := pgxpool.ParseConfig(base + "?" + parameters.Encode())
	if err != nil { // its text repeats the address
		return Address{}, fmt.Errorf("%s cannot be read: write postgres://USER@HOST:PORT/DATABASE?schema=NAME", shown)
	}
	config.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize() // it may be a word of SQL
	config.ConnConfig.RuntimeParams["application_name"] = "skink"
	return Address{schema, shown, config}, nil
}

// cutLast cuts text at the last sep. found is false if there is none, and then all of it is after.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}

// String returns the address without its password and without parameters of the connection.
func (a Address) String() string { return a.shown }
