package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"skink/store"
)

// # The outbox
//
// What a page links to in other partitions cannot be written with its record. So it is
// written beside it, delivered, and taken out when all of it was. To deliver it twice does
// no harm. Who dies before has left it to the next worker that looks at the partition. Where
// there are replicas it is taken out only when one has what was delivered.
//
//	o  hash: number of the visit → leads, each its mode, lane and item, with lengths before them

func packLeads(leads []lead) string {
	var b []byte
	for _, l := range leads {
		b = append(b, l.mode...)
		b = appendText(b, laneOf(l.item))
		b = appendText(b, packItem(l.item))
	}
	return string(b)
}

func unpackLeads(packed string) (leads []lead, err error) {
	d := unpacker{b: packed}
	for len(d.b) > 0 {
		mode, lane := d.cut(1), d.text()
		it, err := unpackItem(lane, d.text())
		if err != nil || d.err != nil {
			return nil, fmt.Errorf("%w: an outbox", store.ErrCorrupt)
		}
		leads = append(leads, lead{mode, it})
	}
	return leads, nil
}

// deliver brings the leads of a visit to their partitions, and takes them out of the outbox.
func (s *Store) deliver(ctx context.Context, p partition, n uint64, leads []lead) error {
	if len(leads) == 0 {
		return nil
	}
	if _, err := s.lead(ctx, leads); err != nil {
		return fmt.Errorf("deliver links: %w", err)
	}
	if s.replicated && !s.copied(ctx, leads) {
		return nil // it stays, and is delivered again
	}
	return s.do(ctx, s.B().Hdel().Key(s.key(p, "o")).Field(strconv.FormatUint(n, 10)).Build())[0].Error()
}

// copied says whether replicas have what was delivered: a primary that dies before loses it,
// and then nobody else would know of the URLs.
func (s *Store) copied(ctx context.Context, leads []lead) bool {
	for p := range byPartition(leads) {
		if err := s.Dedicated(func(c rueidis.DedicatedClient) error { return awaitCopy(ctx, c, s.key(p, "s")) }); err != nil {
			return false
		}
	}
	return true
}

// awaitCopy waits until a replica has all that its primary has been told. WAIT speaks of
// the writes of its own connection, so there is one, after the others. Where no replica is
// in step, none can take the place of its primary.
func awaitCopy(ctx context.Context, c rueidis.DedicatedClient, sums string) error {
	mark := c.B().Hset().Key(sums).FieldValue().FieldValue("copied", "1").Build()
	if err := c.Do(ctx, mark).Error(); err != nil {
		return err
	}
	info, err := c.Do(ctx, c.B().Info().Section("replication").Build()).ToString()
	if err != nil || !strings.Contains(info, "state=online") {
		return err
	}
	n, err := c.Do(ctx, c.B().Wait().Numreplicas(1).Timeout(copyTime.Milliseconds()).Build()).AsInt64()
	if err == nil && n == 0 {
		err = errNotCopied
	}
	return err
}

// copyTime is how long a replica may take.
const copyTime = time.Second

var errNotCopied = errors.New("no replica has it yet")

// deliverFor delivers what others left in some outboxes.
func (s *Store) deliverFor(ctx context.Context, parts []partition) error {
	for _, p := range parts {
		if err := s.deliverLeft(ctx, p); err != nil {
			return fmt.Errorf("deliver the links that another worker left: %w", err)
		}
		s.outlook.touch(p)
	}
	return nil
}

// deliverLeft delivers what others left in an outbox.
func (s *Store) deliverLeft(ctx context.Context, p partition) error {
	left, err := s.do(ctx, s.B().Hgetall().Key(s.key(p, "o")).Build())[0].AsStrMap()
	if err != nil {
		return err
	}
	for n, packed := range left {
		leads, err := unpackLeads(packed)
		if err != nil {
			return err
		}
		number, err := strconv.ParseUint(n, 10, 64)
		if err != nil {
			return err
		}
		if err := s.deliver(ctx, p, number, leads); err != nil {
			return err
		}
	}
	return nil
}
