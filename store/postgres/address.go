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

// An Address is the location of a store:
// postgres://USER@HOST:PORT[,HOST:PORT]/DATABASE?schema=NAME. NAME is the schema that contains the
// store. All other parameters are those of libpq, such as sslmode. A password should be given in
// PGPASSWORD or in a password file, as with psql.
type Address struct {
	schema string
	base   string // address without password, schema and parameters
	config *pgxpool.Config
}

const defaultSchema = "skink"

// IsAddress reports whether the name of a store is the address of a store on a PostgreSQL server.
func IsAddress(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// validSchema matches the allowed schema names. They need no quotes in SQL, unless they are
// reserved words.
var validSchema = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// ParseAddress parses the address of a store. Its errors never contain a password.
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
		return Address{}, fmt.Errorf("schema=%s: use lowercase letters, digits and underscores", schema)
	}
	parameters.Del("schema")
	a := Address{schema: schema, base: scheme + "://" + rest}
	if found {
		a.base = scheme + "://" + user + "@" + rest
	}
	if _, database, _ := strings.Cut(rest, "/"); database == "" {
		return Address{}, fmt.Errorf("%s does not name a database: write postgres://USER@HOST:PORT/DATABASE?schema=NAME", a)
	}
	if parameters.Get("connect_timeout") == "" {
		parameters.Set("connect_timeout", "10")
	}
	config, err := pgxpool.ParseConfig(base + "?" + parameters.Encode())
	if err != nil { // the error from pgx repeats the address with its password
		return Address{}, fmt.Errorf("%s cannot be read: write postgres://USER@HOST:PORT/DATABASE?schema=NAME", a)
	}
	config.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize() // quoted, because the name may be a reserved word in SQL
	config.ConnConfig.RuntimeParams["application_name"] = "skink"
	a.config = config
	return a, nil
}

// cutLast cuts text around the last sep. If there is none, found is false and after is the whole
// text.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}

// String returns the address without its password and its connection parameters.
func (a Address) String() string { return a.base + "?schema=" + a.schema }
