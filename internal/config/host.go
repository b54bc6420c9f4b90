package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"skink/crawler/access"
)

// ownKeys are the keys of a host's section that are no flags.
var ownKeys = []string{"headers", "cookies", "user", "password", "login", "proxy"}

// A section is the section of a host.
type section struct {
	name     string // pattern of the host, as in the file
	host     access.Host
	flags    *pflag.FlagSet // settings of the host that are also flags
	lines    map[string]int // line of each key
	settings []Setting
}

// host adds an entry to the section of its host.
func (p *parser) host(e entry) error {
	switch {
	case len(e.path) == 1 && e.table:
		return nil
	case len(e.path) == 1:
		return errors.New(`host: write a section, such as [host."example.org"]`)
	case len(e.path) == 2 && !e.table || !validPattern(e.path[1]):
		return fmt.Errorf(`host %q: write a section with a name, such as [host."example.org"], [host."*.example.org"] or [host."example.org:8080"]`, e.path[1])
	}
	s := p.section(e.path[1])
	if len(e.path) == 2 {
		return nil
	}
	key := e.path[2]
	if known := append(names(s.flags), ownKeys...); !slices.Contains(known, key) {
		return p.unknown(key, known)
	}
	if s.lines[key] == 0 {
		s.lines[key] = e.line
	}
	if !e.table {
		s.settings = append(s.settings, e.shown())
	}
	if p.opt.Command != p.opt.Main || p.lacks(e) {
		return nil
	}
	return s.set(p, e)
}

// section returns the section of a host, which it adds if the entry is the first of the section.
func (p *parser) section(name string) *section {
	at := slices.IndexFunc(p.sections, func(s *section) bool { return s.name == name })
	if at < 0 {
		at = len(p.sections)
		s := &section{name: name, flags: pflag.NewFlagSet("host", pflag.ContinueOnError), lines: map[string]int{}}
		s.host.Pattern = strings.ToLower(name)
		p.opt.Host(&s.host, s.flags)
		p.sections = append(p.sections, s)
	}
	return p.sections[at]
}

func validPattern(pattern string) bool {
	name := strings.TrimPrefix(pattern, "*.")
	return pattern == "*" || name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("*/@?#", r) })
}

// shown returns the setting of a host for printing.
func (e entry) shown() Setting {
	var keys, parts []string
	for _, key := range e.path[2:] {
		if strings.ContainsFunc(key, func(r rune) bool {
			return r != '-' && r != '_' && !('0' <= r && r <= '9') && !('a' <= r|' ' && r|' ' <= 'z')
		}) {
			key = strconv.Quote(key)
		}
		keys = append(keys, key)
	}
	for _, v := range e.values {
		switch {
		case v.kind != unstable.String:
			parts = append(parts, v.text)
		case secretIn(e.path, v.text) == v.text:
			parts = append(parts, strconv.Quote(absent))
		default:
			parts = append(parts, strconv.Quote(access.Redacted(v.text)))
		}
	}
	shown := strings.Join(parts, ", ")
	if e.array {
		shown = "[" + shown + "]"
	}
	return Setting{Host: e.path[1], Key: strings.Join(keys, "."), Value: shown, Line: e.line}
}

// set stores the value of an entry in the settings of the host.
func (s *section) set(p *parser, e entry) (err error) {
	key := e.path[2]
	switch {
	case key == "headers":
		return s.setHeader(p, e)
	case key == "login":
		return s.setLogin(p, e)
	case len(e.path) > 3 || e.table:
		return notScalar(key)
	case key == "cookies":
		s.host.Cookies, err = p.cookies(e)
		return err
	case key == "proxy":
		s.host.Proxies, err = p.proxies(e)
		return err
	case key == "user" || key == "password":
		return s.setBasic(p, e)
	}
	_, err = p.set(s.flags, key, e)
	return err
}

func (s *section) setBasic(p *parser, e entry) error {
	text, err := p.text(e)
	if err != nil {
		return err
	}
	if s.host.Basic == nil {
		s.host.Basic = &access.Basic{}
	}
	switch {
	case e.key() == "password":
		s.host.Basic.Password = access.Secret(text)
	case text == "" || strings.Contains(text, ":"):
		return errors.New("user: the name is empty, or contains a colon, which HTTP Basic authentication cannot send")
	default:
		s.host.Basic.User = access.Secret(text)
	}
	return nil
}

func (s *section) setHeader(p *parser, e entry) error {
	if s.host.Headers == nil {
		s.host.Headers = map[string]access.Secret{}
	}
	name := e.key()
	switch {
	case len(e.path) == 3 && e.table:
		return nil
	case len(e.path) == 3:
		return errors.New(`headers: write a table, such as { "X-Token" = "${TOKEN}" }`)
	case len(e.path) > 4:
		return fmt.Errorf("%s: must be a string", e.path[3])
	}
	text, err := p.text(e)
	if err != nil {
		return err
	}
	canonical := http.CanonicalHeaderKey(name)
	switch canonical {
	case "User-Agent", "Cookie":
		return fmt.Errorf("header %s: use the key user-agent or cookies instead", canonical)
	case "Accept-Encoding", "Connection", "Content-Length", "Host", "Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return fmt.Errorf("header %s: the crawler sets this header itself", canonical)
	}
	if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(text) {
		return fmt.Errorf("header %q: its name or value contains characters that cannot be sent", name)
	}
	s.host.Headers[canonical] = access.Secret(text)
	return nil
}

func (s *section) setLogin(p *parser, e entry) (err error) {
	if s.host.Login == nil {
		s.host.Login = &access.Login{Fields: map[string]access.Secret{}}
	}
	l := s.host.Login
	switch key := strings.Join(e.path[2:min(4, len(e.path))], "."); {
	case key == "login" && e.table:
	case key == "login":
		return errors.New(`login: write a table with the keys "page", "fields" and "check"`)
	case key == "login.page":
		l.Page, err = p.text(e)
	case key == "login.check":
		l.Check, err = p.text(e)
	case key != "login.fields":
		return p.unknown(e.path[3], []string{"page", "fields", "check"})
	case len(e.path) == 4 && !e.table:
		return errors.New(`fields: write a table, such as { user = "me", password = "${PASSWORD}" }`)
	case len(e.path) > 4:
		var text string
		text, err = p.text(e)
		l.Fields[e.key()] = access.Secret(text)
	}
	return err
}

func (p *parser) cookies(e entry) (access.Cookies, error) {
	files, err := p.texts(e)
	all := access.Cookies{}
	for i, file := range files {
		name := e.values[i].text // errors name a file as spelled in the configuration
		text, err := p.read(file)
		if err != nil {
			return nil, fmt.Errorf("cookies: read %s: %w", name, reason(err))
		}
		found, err := parseCookies(string(text))
		if err != nil {
			return nil, fmt.Errorf("cookies: %s, %w", name, err)
		}
		all = append(all, found...)
	}
	return all, err
}

func (p *parser) proxies(e entry) ([]access.Proxy, error) {
	texts, err := p.texts(e)
	switch {
	case err != nil:
		return nil, err
	case len(texts) == 1 && texts[0] == "direct":
		return []access.Proxy{}, nil
	case len(texts) == 0:
		return nil, errors.New("proxy: the list is empty: write \"direct\" for no proxy")
	}
	var all []access.Proxy
	for _, text := range texts {
		proxy, err := access.ParseProxy(text)
		if err != nil {
			return nil, fmt.Errorf("proxy: %w; for no proxy, write only \"direct\"", err)
		}
		all = append(all, proxy)
	}
	return all, nil
}

// check returns an error if keys of the section are missing. The error is about the key that is
// also returned.
func (s *section) check() (key string, err error) {
	l := s.host.Login
	switch {
	case s.host.Basic != nil && s.lines["user"] == 0:
		return "password", errors.New("password is set, but user is not")
	case s.host.Basic != nil && s.lines["password"] == 0:
		return "user", errors.New("user is set, but password is not")
	case l == nil:
		return "", nil
	}
	u, err := url.Parse(l.Page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "login", errors.New("login: page must be the URL of the form, such as https://example.org/login")
	}
	if len(l.Fields) == 0 {
		return "login", errors.New("login: the key \"fields\" is missing")
	}
	return "", nil
}
