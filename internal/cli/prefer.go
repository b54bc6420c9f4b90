package cli

import (
	"context"
	"errors"
	"fmt"

	"skink/crawler/folder"
	"skink/frontier"
	"skink/internal/harmless"
	"skink/internal/precedence"
	"skink/store"
)

// checkPrefer refuses invalid expressions of --prefer.
func checkPrefer(prefer []string) error {
	_, err := precedence.NewOrder(prefer, nil)
	if pattern, ok := errors.AsType[*precedence.PatternError](err); ok {
		return usagef("--prefer %q is no regular expression: %w: the syntax is that of https://go.dev/s/re2syntax", pattern.Pattern, pattern.Err)
	}
	return err
}

// orderHosts adds the hosts of seeds to the order of hosts in a store, which decides the leaders.
func orderHosts(ctx context.Context, s store.Meta, name string, prefer []string, all *seeds) (*precedence.Order, error) {
	order, err := precedence.Add(ctx, s, prefer, all.hosts())
	if errors.Is(err, precedence.ErrPrefer) {
		has := "without --prefer"
		if kept := order.Prefers(); len(kept) > 0 {
			has = "with" + preferFlags(kept)
		}
		return nil, usagef("%s, but %s was written %s: leave the flag out, or choose another --store", preferFlags(prefer)[1:], name, has)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return order, nil
}

// preferFlags returns expressions as flags of a command line, with a space before each.
func preferFlags(prefer []string) (flags string) {
	for _, expression := range prefer {
		flags += " --prefer " + harmless.Quoted(expression)
	}
	return flags
}

// hosts returns the hosts of the seeds that the user named, in order.
func (all *seeds) hosts() (hosts []string) {
	for _, u := range all.URLs {
		hosts = append(hosts, frontier.HostOf(u))
	}
	for _, f := range folder.Sites(all.Folders) {
		hosts = append(hosts, f.Host)
	}
	return hosts
}
