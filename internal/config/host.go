package config

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"skink/crawler/access"
)

// hostKeys are the keys of a host's section. The caller's [Setter] parses the values of the keys
// in flagKeys.
var (
	flagKeys = []string{"delay", "per-host", "user-agent", "include", "exclude", "max-host-pages", "max-host-bytes", "render"}
	hostKeys = append([]string{"headers", "cookies", "user", "password", "login", "logout", "proxy", "sign"}, flagKeys...)
	secrets  = []string{"headers", "user", "password"} // keys of settings with secret values
)

func (p *parser) hosts(path []string, value any) error {
	sections, ok := value.(map[string]any)
	if !ok {
		return p.errorf(path, `host: write a section, such as [host."example.org"]`)
	}
	for _, pattern := range p.keys(path, sections) {
		at := append(slices.Clone(path), pattern)
		section, ok := sections[pattern].(map[string]any)
		if !ok || !validPattern(pattern) {
			return p.errorf(at, `host %q: write a section with a name, such as [host."example.org"], [host."*.example.org"] or [host."example.org:8080"]`, pattern)
		}
		h := access.Host{Pattern: strings.ToLower(pattern)}
		for _, key := range p.keys(at, section) {
			if !slices.Contains(hostKeys, key) {
				return p.unknown(append(at, key), hostKeys)
			}
			p.note(append(slices.Clone(at), key), section[key])
			if p.opt.Host == nil || p.lacks(append(slices.Clone(at), key), section[key]) {
				continue
			}
			if err := p.hostKey(&h, append(slices.Clone(at), key), section[key]); err != nil {
				return err
			}
		}
		if b := h.Basic; b != nil && b.User == "" {
			return p.errorf(append(at, "password"), "password is set, but user is not")
		}
		if b := h.Basic; b != nil && b.User != "" && section["password"] == nil {
			return p.errorf(append(at, "user"), "user is set, but password is not")
		}
		p.file.Hosts = append(p.file.Hosts, h)
	}
	return nil
}

func validPattern(pattern string) bool {
	name := strings.TrimPrefix(pattern, "*.")
	return pattern == "*" || name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("*/@?#", r) })
}

func (p *parser) note(path []string, value any) {
	s := Setting{Host: path[1], Key: path[2], Line: p.lines[pathOf(path...)]}
	s.Value = shown(s.Key, value)
	p.file.Settings = append(p.file.Settings, s)
}

// shown returns a value as TOML, without secrets.
func shown(key string, value any) string {
	switch v := value.(type) {
	case map[string]any:
		var parts []string
		for k := range v {
			parts = append(parts, strconv.Quote(k)+" = "+shown(map[bool]string{true: k, false: "headers"}[key == "login"], v[k]))
		}
		slices.Sort(parts)
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, shown(key, e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		if slices.Contains(secrets, key) {
			return strconv.Quote(access.Secret("").String())
		}
		if key == "proxy" {
			if u, err := url.Parse(v); err != nil || u.User != nil || strings.ContainsAny(v, "$@") {
				return strconv.Quote(access.Secret("").String())
			}
		}
		return strconv.Quote(v)
	}
	text, _ := scalar(value)
	return text
}

func (p *parser) hostKey(h *access.Host, path []string, value any) (err error) {
	key := path[2]
	if slices.Contains(flagKeys, key) {
		return p.hostFlag(h, path, value)
	}
	switch key {
	case "headers":
		h.Headers, err = p.headers(path, value)
		return err
	case "cookies":
		h.Cookies, err = p.cookies(path, value)
		return err
	case "login":
		h.Login, err = p.login(path, value)
		return err
	case "proxy":
		h.Proxies, err = p.proxies(path, value)
		return err
	case "logout", "sign":
		on, ok := value.(bool)
		if !ok {
			return p.errorf(path, "%s: must be true or false", key)
		}
		if key == "sign" {
			h.Sign = &on
		} else {
			h.Logout = &on
		}
		return nil
	}
	text, err := p.text(path, value)
	if err != nil {
		return err
	}
	if h.Basic == nil {
		h.Basic = &access.Basic{}
	}
	if key == "user" {
		if text == "" || strings.Contains(text, ":") {
			return p.errorf(path, "user: the name is empty, or contains a colon, which HTTP Basic authentication cannot send")
		}
		h.Basic.User = access.Secret(text)
	} else {
		h.Basic.Password = access.Secret(text)
	}
	return nil
}

// text returns a string with its variables replaced.
func (p *parser) text(path []string, value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		return "", p.errorf(path, "%s: must be a string", path[len(path)-1])
	}
	return p.fill(path, text)
}

func (p *parser) texts(path []string, value any) (all []string, err error) {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	for _, v := range values {
		text, err := p.text(path, v)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

func (p *parser) hostFlag(h *access.Host, path []string, value any) error {
	f, err := p.flag(path, value)
	if err != nil {
		return err
	}
	if f.List && f.Name != "include" && f.Name != "exclude" {
		return p.errorf(path, "%s: takes one value, not an array", f.Name)
	}
	set := p.opt.Host(h)
	for _, v := range f.Values {
		if err := set.Set(f.Name, v); err != nil {
			if f.Filled {
				return p.errorf(path, "%s: the value of the variable is not valid", f.Name)
			}
			return p.errorf(path, "%w", err)
		}
	}
	return nil
}

func (p *parser) headers(path []string, value any) (map[string]access.Secret, error) {
	table, ok := value.(map[string]any)
	if !ok {
		return nil, p.errorf(path, `headers: write a table, such as { "X-Token" = "${TOKEN}" }`)
	}
	all := map[string]access.Secret{}
	for _, name := range p.keys(path, table) {
		at := append(slices.Clone(path), name)
		text, err := p.text(at, table[name])
		if err != nil {
			return nil, err
		}
		canonical := http.CanonicalHeaderKey(name)
		switch canonical {
		case "User-Agent":
			return nil, p.errorf(at, "header %s: use the key user-agent instead", canonical)
		case "Cookie":
			return nil, p.errorf(at, "header %s: use the key cookies instead", canonical)
		case "Accept-Encoding", "Connection", "Content-Length", "Host", "Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
			return nil, p.errorf(at, "header %s: the crawler sets this header itself", canonical)
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(text) {
			return nil, p.errorf(at, "header %q: its name or value contains characters that cannot be sent", name)
		}
		all[canonical] = access.Secret(text)
	}
	return all, nil
}

func (p *parser) cookies(path []string, value any) (access.Cookies, error) {
	written, ok := value.([]any)
	if !ok {
		written = []any{value}
	}
	all := access.Cookies{}
	for _, name := range written { // errors name a file as spelled in the configuration
		file, err := p.text(path, name)
		if err != nil {
			return nil, err
		}
		text, err := p.read(file)
		if err != nil {
			return nil, p.errorf(path, "cookies: read %s: %w", name, reason(err))
		}
		found, err := parseCookies(string(text))
		if err != nil {
			return nil, p.errorf(path, "cookies: %s, %w", name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func (p *parser) login(path []string, value any) (*access.Login, error) {
	table, ok := value.(map[string]any)
	if !ok {
		return nil, p.errorf(path, "login: write a table with the keys \"page\", \"fields\" and \"check\"")
	}
	l := &access.Login{Fields: map[string]access.Secret{}}
	for _, key := range p.keys(path, table) {
		at := append(slices.Clone(path), key)
		var err error
		switch key {
		case "page":
			l.Page, err = p.text(at, table[key])
		case "check":
			l.Check, err = p.text(at, table[key])
		case "fields":
			fields, ok := table[key].(map[string]any)
			if !ok {
				return nil, p.errorf(at, `fields: write a table, such as { user = "me", password = "${PASSWORD}" }`)
			}
			for _, name := range p.keys(at, fields) {
				text, err := p.text(append(slices.Clone(at), name), fields[name])
				if err != nil {
					return nil, err
				}
				l.Fields[name] = access.Secret(text)
			}
		default:
			return nil, p.unknown(at, []string{"page", "fields", "check"})
		}
		if err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(l.Page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, p.errorf(path, "login: page must be the URL of the form, such as https://example.org/login")
	}
	if len(l.Fields) == 0 {
		return nil, p.errorf(path, "login: the key \"fields\" is missing")
	}
	return l, nil
}

func (p *parser) proxies(path []string, value any) ([]access.Proxy, error) {
	texts, err := p.texts(path, value)
	if err != nil {
		return nil, err
	}
	if len(texts) == 1 && texts[0] == "direct" {
		return []access.Proxy{}, nil
	}
	if len(texts) == 0 {
		return nil, p.errorf(path, "proxy: the list is empty: write \"direct\" for no proxy")
	}
	var all []access.Proxy
	for _, text := range texts {
		proxy, err := access.ParseProxy(text)
		if err != nil {
			return nil, p.errorf(path, "proxy: %w; for no proxy, write only \"direct\"", err)
		}
		all = append(all, proxy)
	}
	return all, nil
}
