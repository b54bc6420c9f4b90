package config

import (
	"cmp"
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
	return p.each([]string{"host"}, sections, func(path []string, v any) error {
		section, isTable := v.(table)
		if !isTable || !validPattern(path[1]) {
			return fmt.Errorf(`host %q: write a section with a name, such as [host."example.org"], [host."*.example.org"] or [host."example.org:8080"]`, path[1])
		}
		return p.host(path, section)
	})
}

func (p *parser) host(within []string, section table) error {
	h, flags := &access.Host{Pattern: strings.ToLower(within[1])}, pflag.NewFlagSet("host", pflag.ContinueOnError)
	p.opt.Host(h, flags)
	known := append(names(flags), ownKeys...)
	err := p.each(within, section, func(path []string, _ any) error { return p.checkKey(path, known) })
	if err != nil || p.opt.Command != p.opt.Main || p.lacks(within, section) {
		return err
	}
	if err := p.each(within, section, func(path []string, v any) error { return p.setHost(h, flags, path, v) }); err != nil {
		return err
	}
	if key, err := checkHost(h, section); err != nil {
		return p.at(append(slices.Clone(within), key), err)
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
		return p.each(path, fields, func(path []string, v any) error { return p.setSelectors(h, path, v) })
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

func (p *parser) headers(path []string, t table) (map[string]access.Secret, error) {
	if t == nil {
		return nil, errors.New(`headers: write a table, such as { "X-Token" = "${TOKEN}" }`)
	}
	all := map[string]access.Secret{}
	return all, p.each(path, t, func(path []string, v any) error {
		name := path[3]
		text, err := p.text(name, v)
		all[http.CanonicalHeaderKey(name)] = access.Secret(text)
		return cmp.Or(err, checkHeader(name, text))
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

func (p *parser) login(path []string, t table) (*access.Login, error) {
	if t == nil {
		return nil, errors.New(`login: write a table with the keys "page", "fields" and "check"`)
	}
	l := &access.Login{Fields: map[string]access.Secret{}}
	return l, p.each(path, t, func(path []string, v any) (err error) {
		switch fields, isTable := v.(table); path[3] {
		case "page":
			l.Page, err = p.text("page", v)
		case "check":
			l.Check, err = p.text("check", v)
		case "fields":
			if !isTable {
				return errors.New(`fields: write a table, such as { user = "me", password = "${PASSWORD}" }`)
			}
			return p.each(path, fields, func(path []string, v any) error {
				text, err := p.text(path[4], v)
				l.Fields[path[4]] = access.Secret(text)
				return err
			})
		default:
			return p.checkKey(path, []string{"page", "fields", "check"})
		}
		return err
	})
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
