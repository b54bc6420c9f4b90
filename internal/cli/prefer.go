package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"skink/crawler/folder"
	"skink/frontier"
	"skink/internal/precedence"
	"skink/store"
)

// checkPrefer refuses expressions of --prefer that cannot be read.
func checkPrefer(prefer []string) error {
	_, err := precedence.NewOrder(prefer, nil)
	if pattern, ok := errors.AsType[*precedence.PatternError](err); ok {
		return usagef("--prefer %q is no regular expression: %w: the syntax is that of https://go.dev/s/re2syntax", pattern.Pattern, pattern.Err)
	}
	return err
}

// orderHosts adds the hosts of seeds to the order of hosts that a store keeps, by which pages lead.
func orderHosts(ctx context.Context, s store.Meta, name string, prefer []string, all *seeds) (*precedence.Order, error) {
	order, err := precedence.Add(ctx, s, prefer, all.hosts())
	if errors.Is(err, precedence.ErrPrefer) {
		has := "without --prefer"
		if kept := order.Prefers(); len(kept) > 0 {
			has = "with --prefer " + strings.Join(kept, " --prefer ")
		}
		return nil, usagef("--prefer %s, but %s was written %s: leave the flag out, or choose another --store", strings.Join(prefer, " --prefer "), name, has)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return order, nil
}

// hosts are those of the seeds that somebody named, in their order.
func (all *seeds) hosts() (hosts []string) {
	for _, u := range all.URLs {
		hosts = append(hosts, frontier.HostOf(u))
	}
	for _, f := range folder.Sites(all.Folders) {
		hosts = append(hosts, f.Host)
	}
	return hosts
}
