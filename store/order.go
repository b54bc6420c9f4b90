package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

// # Orders
//
// A user steers a crawl by orders, which stand in its store. So they reach every worker, they are
// kept for later runs, and none is lost if a process is killed. Only the last order about a subject
// is kept: the last for a host and verb, and the last of pause, resume and stop.

// An Order is one change to a crawl.
type Order struct {
	Verb      string    `json:"verb"`
	Of        string    `json:"of,omitempty"`    // a host, a regular expression or a seed; "" if the order is about the whole crawl
	Value     string    `json:"value,omitempty"` // a duration for delay, a number for per-host
	Reason    string    `json:"reason,omitempty"`
	Withdrawn bool      `json:"-"`  // removes the earlier order about the same subject
	By        string    `json:"by"` // user and machine
	At        time.Time `json:"at"`
}

// The verbs of orders. Stop and reload apply only to the runs that read them while they crawl.
const (
	OrderPause   = "pause"
	OrderResume  = "resume"
	OrderStop    = "stop"
	OrderExclude = "exclude"
	OrderInclude = "include"
	OrderBlock   = "block"
	OrderUnblock = "unblock"
	OrderDelay   = "delay"
	OrderPerHost = "per-host"
	OrderPrefer  = "prefer"
	OrderAdd     = "add"
	OrderReload  = "reload"
)

const ordersName = "orders"

// subject returns what only one order can be about.
func (o *Order) subject() string {
	switch o.Verb {
	case OrderPause, OrderResume, OrderStop:
		return OrderPause
	case OrderUnblock:
		return OrderBlock + " " + o.Of
	}
	return o.Verb + " " + o.Of
}

// ReadOrders returns the orders in a store, oldest first.
func ReadOrders(ctx context.Context, s MetaReader) ([]Order, error) {
	return MetaValue[[]Order](ctx, s, ordersName, "orders")
}

// Give adds an order to those in a store, in place of an earlier one about the same subject.
func Give(ctx context.Context, s MetaSwapper, o Order) error {
	return ChangeMeta(ctx, s, ordersName, "orders", func(old *[]Order) (*[]Order, error) {
		all := []Order{}
		if old != nil {
			all = slices.DeleteFunc(*old, func(before Order) bool { return before.subject() == o.subject() })
		}
		if !o.Withdrawn {
			all = append(all, o)
		}
		return &all, nil
	})
}

// Text returns an order as it was typed.
func (o *Order) Text() string {
	text := strings.TrimRight(o.Verb+" "+o.Of+" "+o.Value, " ")
	if o.Withdrawn {
		text += ", withdrawn"
	}
	if o.Reason != "" {
		text += " (" + o.Reason + ")"
	}
	return text
}
