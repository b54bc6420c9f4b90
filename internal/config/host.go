package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"skink/crawler/access"
	"skink/store/disk"
)

// ownKeys are the keys of a host's section that are no flags.
var ownKeys = append([]string{"headers", "cookies", "user", "password", "login", "proxy"}, selectorKeys...)

// selectorKeys are the keys with CSS selectors. A store keeps them as they are, so they have no variables.
var selectorKeys = []string{"main", "drop", "fields"}

// hosts takes the sections of hosts. They are used only by the main command, but their keys are
// checked for each.
func (p *parser) hosts(sections table) error {
	if sections == nil {
		return errors.New(`host: write a section, such as [host."example.org"]`)
	}
	for _, pattern := range p.keys([]string{"host"}, sections) {
		path := []string{"host", pattern}
		section, isTable := sections[pattern].(table)
		if !isTable || !validPattern(pattern) {
			return p.at(path, fmt.Errorf(`host %q: write a section with a name, such as [host."example.org"], [host."*.example.org"] or [host."example.org:8080"]`, pattern))
		}
		if err := p.host(path, section); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) host(within []string, section table) error {
	h, flags := &access.Host{Pattern: strings.ToLower(within[1])}, pflag.NewFlagSet("host", pflag.ContinueOnError)
	p.opt.Host(h, flags)
	path := func(key string) []string { return append(slices.Clone(within), key) }
	known := append(names(flags), ownKeys...)
	keys := p.keys(within, section)
	for _, key := range keys {
		if !slices.Contains(known, key) {
			return p.at(path(key), p.unknown(key, known))
		}
	}
	if p.opt.Command != p.opt.Main || p.lacks(within, section) {
		return nil
	}
	for _, key := range keys {
		if err := p.setHost(h, flags, path(key), section[key]); err != nil {
			return p.at(path(key), err)
		}
	}
	if key, err := checkHost(h, section); err != nil {
		return p.at(path(key), err)
	}
	p.file.Hosts = append(p.file.Hosts, *h)
	return nil
}

func validPattern(pattern string) bool {
	name := strings.TrimPrefix(pattern, "*.")
	return pattern == "*" || name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("*/@?#", r) })
}

// setHost stores the value at path, a key of a host's section, in the settings of the host.
func (p *parser) setHost(h *access.Host, flags *pflag.FlagSet, path []string, v any) (err error) {
	key := path[2]
	t, isTable := v.(table)
	switch {
	case key == "headers":
		h.Headers, err = p.headers(path, t)
	case key == "login":
		h.Login, err = p.login(path, t)
	case slices.Contains(selectorKeys, key):
		err = p.setSelectors(h, path, v)
	case isTable:
		err = notScalar(key)
	case key == "cookies":
		h.Cookies, err = p.cookies(v)
	case key == "proxy":
		h.Proxies, err = p.proxies(v)
	case key == "user" || key == "password":
		err = p.setBasic(h, key, v)
	default:
		_, err = p.set(flags, key, v)
	}
	return err
}

// setSelectors stores the selectors at path. An array makes a field a list. Errors name the host.
func (p *parser) setSelectors(h *access.Host, path []string, v any) error {
	if fields, isTable := v.(table); isTable && len(path) == 3 && path[2] == "fields" {
		for _, name := range p.keys(path, fields) {
			if err := p.setSelectors(h, append(path, name), fields[name]); err != nil {
				return err
			}
		}
		return nil
	}
	key := strings.Join(path[2:], ".")
	if _, isList := v.([]any); isList && len(path) > 3 {
		key += "[]"
	}
	for _, element := range elements(v) {
		text, _ := element.(string)
		if err := h.Select.Add(key, text); err != nil {
			return p.at(path, fmt.Errorf("host %q: %w", h.Pattern, err))
		}
	}
	return nil
}

func (p *parser) setBasic(h *access.Host, key string, v any) error {
	text, err := p.text(key, v)
	if err != nil {
		return err
	}
	if h.Basic == nil {
		h.Basic = &access.Basic{}
	}
	switch {
	case key == "password":
		h.Basic.Password = access.Secret(text)
	case text == "" || strings.Contains(text, ":"):
		return errors.New("user: the name is empty, or contains a colon, which HTTP Basic authentication cannot send")
	default:
		h.Basic.User = access.Secret(text)
	}
	return nil
}

// each calls take with the keys and the strings of a table.
func (p *parser) each(path []string, t table, take func(key string, text access.Secret) error) error {
	for _, key := range p.keys(path, t) {
		text, err := p.text(key, t[key])
		if err == nil {
			err = take(key, access.Secret(text))
		}
		if err != nil {
			return p.at(append(path, key), err)
		}
	}
	return nil
}

func (p *parser) headers(path []string, t table) (map[string]access.Secret, error) {
	if t == nil {
		return nil, errors.New(`headers: write a table, such as { "X-Token" = "${TOKEN}" }`)
	}
	all := map[string]access.Secret{}
	return all, p.each(path, t, func(name string, text access.Secret) error {
		all[http.CanonicalHeaderKey(name)] = text
		return checkHeader(name, string(text))
	})
}

func checkHeader(name, text string) error {
	switch canonical := http.CanonicalHeaderKey(name); canonical {
	case "User-Agent", "Cookie":
		return fmt.Errorf("header %s: use the key user-agent or cookies instead", canonical)
	case "Accept-Encoding", "Connection", "Content-Length", "Host", "Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return fmt.Errorf("header %s: the crawler sets this header itself", canonical)
	}
	if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(text) {
		return fmt.Errorf("header %q: its name or value contains characters that cannot be sent", name)
	}
	return nil
}

func (p *parser) login(path []string, t table) (l *access.Login, err error) {
	if t == nil {
		return nil, errors.New(`login: write a table with the keys "page", "fields" and "check"`)
	}
	l = &access.Login{Fields: map[string]access.Secret{}}
	for _, key := range p.keys(path, t) {
		switch fields, isTable := t[key].(table); {
		case key == "page":
			l.Page, err = p.text(key, t[key])
		case key == "check":
			l.Check, err = p.text(key, t[key])
		case key != "fields":
			err = p.unknown(key, []string{"page", "fields", "check"})
		case !isTable:
			err = errors.New(`fields: write a table, such as { user = "me", password = "${PASSWORD}" }`)
		default:
			err = p.each(append(path, key), fields, func(name string, text access.Secret) error {
				l.Fields[name] = text
				return nil
			})
		}
		if err != nil {
			return nil, p.at(append(path, key), err)
		}
	}
	return l, nil
}

func (p *parser) cookies(v any) (access.Cookies, error) {
	files, err := p.texts("cookies", v)
	all := access.Cookies{}
	for i, file := range files {
		name := elements(v)[i] // errors name a file as spelled in the configuration
		text, err := p.read(file)
		if err != nil {
			return nil, fmt.Errorf("cookies: read %s: %w", name, disk.Reason(err))
		}
		found, err := parseCookies(string(text))
		if err != nil {
			return nil, fmt.Errorf("cookies: %s, %w", name, err)
		}
		all = append(all, found...)
	}
	return all, err
}

func (p *parser) proxies(v any) ([]access.Proxy, error) {
	texts, err := p.texts("proxy", v)
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

// checkHost returns an error if keys of a host's section are missing. The error is about the key
// that is also returned.
func checkHost(h *access.Host, section table) (key string, err error) {
	l := h.Login
	switch {
	case h.Basic != nil && section["user"] == nil:
		return "password", errors.New("password is set, but user is not")
	case h.Basic != nil && section["password"] == nil:
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
