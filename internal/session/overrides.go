package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"skink/store"
)

// Overrides are the reasons for which a crawl fetched URLs that the robots.txt of a host does not
// allow, by the pattern of the host. The store keeps them.
type Overrides map[string]string

const overridesName = "robots"

// ReadOverrides returns those of all runs.
func ReadOverrides(ctx context.Context, s store.MetaReader) (Overrides, error) {
	return store.MetaValue[Overrides](ctx, s, overridesName, "the reasons for overriding robots.txt")
}

// write adds the overrides to those in the store.
func (o Overrides) write(ctx context.Context, s store.Meta) error {
	if len(o) == 0 {
		return nil
	}
	return store.ChangeMeta(ctx, s, overridesName, "the reasons for overriding robots.txt", func(now *Overrides) (*Overrides, error) {
		now = cmp.Or(now, &Overrides{})
		maps.Copy(*now, o)
		return now, nil
	})
}

// Print writes one line for each host.
func (o Overrides) Print(w io.Writer) {
	for _, host := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(w, "robots.txt of %s does not apply: %s\n", host, o[host])
	}
}
