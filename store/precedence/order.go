package precedence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"skink/store"
)

// An Order ranks URLs for choosing leaders. Pages whose URLs match an expression of --prefer come
// first, in the order of the expressions. Pages on the hosts of seeds follow, in the order of the
// seeds, and then all other pages. If a seed's site has moved to another host, that host takes the
// place of the seed's host.
//
// The store keeps the Order, so every command that judges its pages uses the same one. An Order is
// immutable.
type Order struct {
	kept   kept
	prefer []*regexp.Regexp
	places map[string]int // places of the hosts of seeds, by host
}

// kept is the JSON form in which the store keeps an Order.
type kept struct {
	Prefer []string          `json:"prefer,omitempty"`
	Hosts  []string          `json:"hosts,omitempty"`
	Moved  map[string]string `json:"moved,omitempty"` // host → host of the seed that redirects to it
}

const metaName = "order of hosts"

// newOrder returns an order that ranks pages matching regular expressions first, and then pages on
// the given hosts. It fails if an expression is invalid.
func newOrder(k kept) (*Order, error) {
	o := &Order{kept: k, places: map[string]int{}}
	for _, text := range k.Prefer {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("parse the regular expression %q for preferred URLs: %w", text, err)
		}
		o.prefer = append(o.prefer, re)
	}
	for _, host := range k.Hosts {
		if _, ok := o.places[host]; !ok {
			o.places[host] = len(o.places)
		}
	}
	for host, from := range k.Moved {
		if at, ok := o.places[from]; ok {
			if _, seed := o.places[host]; !seed {
				o.places[host] = at
			}
		}
	}
	return o, nil
}

// Place returns the place of a URL in the order. It is negative if the URL matches an expression. URLs
// that match none and are not on a seed's host share the last place.
func (o *Order) Place(url string) int {
	if o == nil {
		return 0
	}
	for i, re := range o.prefer {
		if re.MatchString(url) {
			return i - len(o.prefer)
		}
	}
	if at, ok := o.places[store.HostOf(url)]; ok {
		return at
	}
	return len(o.kept.Hosts)
}

// Prefers returns the expressions of --prefer.
func (o *Order) Prefers() []string { return o.kept.Prefer }

// Read returns the order in a store, or nil if the store has none. If there are expressions in prefer,
// the order has them instead of those in the store.
func Read(ctx context.Context, s store.MetaReader, prefer ...string) (*Order, error) {
	k, err := store.ReadMeta[kept](ctx, s, metaName, what)
	if err != nil || k == nil && len(prefer) == 0 {
		return nil, err
	}
	if k = cmp.Or(k, &kept{}); len(prefer) > 0 {
		k.Prefer = prefer
	}
	return newOrder(*k)
}

const what = "the order of hosts" // in errors

// ErrPrefer means that the --prefer expressions differ from those in the store.
var ErrPrefer = errors.New("the store was created with different preferred URLs")

// Add appends the hosts of seeds to the order in a store, and returns the result. It stores the
// expressions in prefer only if the store is new. For any other store, prefer must be empty or
// equal to the stored expressions. If not, Add returns the store's order and [ErrPrefer].
func Add(ctx context.Context, s store.Meta, prefer, hosts []string) (*Order, error) {
	return change(ctx, s, func(k *kept, begun bool) error {
		switch {
		case !begun:
			k.Prefer = prefer
		case len(prefer) > 0 && !slices.Equal(prefer, k.Prefer):
			return ErrPrefer
		}
		k.addHosts(hosts)
		return nil
	})
}

func (k *kept) addHosts(hosts []string) {
	known := map[string]bool{}
	for _, host := range k.Hosts {
		known[host] = true
	}
	for _, host := range hosts {
		if !known[host] {
			known[host] = true
			k.Hosts = append(k.Hosts, host)
		}
	}
}

// Text returns the order as an archive keeps it, without the hosts that leave returns true for.
func (o *Order) Text(leave func(host string) bool) []byte {
	k := o.kept
	k.Hosts = slices.DeleteFunc(slices.Clone(k.Hosts), leave)
	k.Moved = maps.Clone(k.Moved)
	maps.DeleteFunc(k.Moved, func(to, from string) bool { return leave(to) || leave(from) })
	text, _ := json.Marshal(k) // strings can always be encoded
	return text
}

// Merge adds an order that Text returned to the order in a store, and returns the result. The
// expressions of --prefer count only if the store has neither expressions nor hosts.
func Merge(ctx context.Context, s store.Meta, text []byte) (*Order, error) {
	var more kept
	if err := json.Unmarshal(text, &more); err != nil {
		return nil, fmt.Errorf("read %s: %w: %v", what, store.ErrCorrupt, err)
	}
	if _, err := newOrder(more); err != nil { // nothing that cannot be read again is stored
		return nil, err
	}
	return change(ctx, s, func(k *kept, _ bool) error {
		if len(k.Prefer)+len(k.Hosts) == 0 {
			k.Prefer = more.Prefer
		}
		k.addHosts(more.Hosts)
		for to, from := range more.Moved {
			k.move(from, to)
		}
		return nil
	})
}

// Move records that a seed's site has moved to another host, which takes the place of the old one.
// It returns the new order.
func Move(ctx context.Context, s store.Meta, from, to string) (*Order, error) {
	return change(ctx, s, func(k *kept, _ bool) error {
		k.move(from, to)
		return nil
	})
}

func (k *kept) move(from, to string) {
	if k.Moved == nil {
		k.Moved = map[string]string{}
	}
	if k.Moved[to] == "" {
		k.Moved[to] = from
	}
}

// change applies edit to the order in a store, and returns the result. If edit fails, change returns
// the order in the store.
func change(ctx context.Context, s store.Meta, edit func(k *kept, begun bool) error) (*Order, error) {
	var now kept
	failed := store.ChangeMeta(ctx, s, metaName, what, func(old *kept) (*kept, error) {
		k, begun := &kept{}, old != nil
		if begun {
			k = old
		}
		err := edit(k, begun)
		now = *k
		return k, err
	})
	if failed != nil && !errors.Is(failed, ErrPrefer) {
		return nil, failed
	}
	o, err := newOrder(now)
	return o, cmp.Or(failed, err)
}
