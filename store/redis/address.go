package redis

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// An Address says where a store is: redis://[USER[:PASSWORD]@]HOST:PORT[,HOST:PORT…]/NAME, or
// rediss:// for TLS. What is printed of it has no password in it, nor has what is stored.
type Address struct {
	Servers []string // of which one that answers is enough: it names those of its cluster
	Name    string   // of the store: several may be on one server
	TLS     bool

	user, password string
	roots          *x509.CertPool // who may sign for servers; nil: those that the system trusts
}

// The environment names credentials that are to stand in no command line.
const (
	EnvUser     = "SKINK_REDIS_USER"
	EnvPassword = "SKINK_REDIS_PASSWORD"
)

const (
	plainScheme = "redis://"
	tlsScheme   = "rediss://"

	defaultPort = "6379"
)

// IsAddress says whether a store is named as one on a server.
func IsAddress(store string) bool {
	return strings.HasPrefix(store, plainScheme) || strings.HasPrefix(store, tlsScheme)
}

// validName is what a store may be called: it becomes a part of each of its keys.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ParseAddress reads the name of a store. Credentials that it does not give are those of
// the environment. No error says what stands before an "@".
func ParseAddress(text string) (a Address, err error) {
	rest, tls := strings.CutPrefix(text, tlsScheme)
	a.TLS = tls
	if !tls {
		plain := false
		if rest, plain = strings.CutPrefix(text, plainScheme); !plain {
			return Address{}, errors.New("the address of a store begins with redis:// or rediss://")
		}
	}
	a.user, a.password = os.Getenv(EnvUser), os.Getenv(EnvPassword)
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if err := a.credentials(rest[:at]); err != nil {
			return Address{}, err
		}
		rest = rest[at+1:]
	}
	servers, name, _ := strings.Cut(rest, "/")
	if !validName.MatchString(name) {
		return Address{}, fmt.Errorf("redis://%s: a store on a server has a name of letters, digits, dots, dashes and underscores: redis://HOST:PORT/NAME", rest)
	}
	a.Name = name
	for server := range strings.SplitSeq(servers, ",") {
		if a.Servers, err = appendServer(a.Servers, server); err != nil {
			return Address{}, err
		}
	}
	return a, nil
}

// credentials reads USER:PASSWORD, in which "%40" is an "@".
func (a *Address) credentials(text string) error {
	user, password, given := strings.Cut(text, ":")
	var errs [2]error
	a.user, errs[0] = url.PathUnescape(user)
	if given {
		a.password, errs[1] = url.PathUnescape(password)
	}
	if errs[0] != nil || errs[1] != nil {
		return errors.New("the user or the password in the address of the store has a % that encodes nothing: write %25 for it")
	}
	return nil
}

func appendServer(all []string, server string) ([]string, error) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		host, port = strings.Trim(server, "[]"), defaultPort
	}
	if host == "" || port == "" {
		return nil, fmt.Errorf("%q is no server: try HOST:PORT", server)
	}
	return append(all, net.JoinHostPort(host, port)), nil
}

// String is the address without its credentials.
func (a Address) String() string {
	scheme := plainScheme
	if a.TLS {
		scheme = tlsScheme
	}
	return scheme + strings.Join(a.Servers, ",") + "/" + a.Name
}
