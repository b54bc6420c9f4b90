package redis

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"

	"skink/dedup"
	"skink/frontier"
)

// # The layout, version 6
//
// All keys of a store begin with its name in braces. {NAME} are those of the store as a whole: v
// its version, m its named values (meta.go), k what is kept beside it (kept.go), w and g its sessions
// and runs (session.go), a the workers that ask for hosts (present.go). The others are of one of 1,024 partitions, {NAME:000} to
// {NAME:3ff}:
//
//	b l x          by the hash of a key or of a text: posting lists, and visits that are void (postings.go)
//	c d h q r s t w z
//	               by the host: what is queued, who holds it, the sums of the partition (frontier.go)
//	e v            by the host of their URL: pages, the order of their commits (visits.go)
//	f              by the leader's id: members of clusters (visits.go)
//	o              by the host: links on their way to other partitions, and visits that no
//	               replica may have yet (outbox.go, copies.go)
//	I U            directories: where a page is by its id, what is known of a URL (buckets.go)
//
// A letter is followed by what names the key within its partition. Values are described
// where they are written; each script in lua says which keys it is given.

// partitions is into how many parts a store is divided. All keys of a part have one hash
// tag, so a script about them is atomic also in a cluster, and a part moves to another
// server as a whole. A thousand is plenty for a hundred servers, and to ask all of them
// one small question each takes some milliseconds.
const partitions = 1 << partitionBits

const partitionBits = 10

// A partition is one of the parts.
type partition uint16

// partOf is the partition of a URL, that of its host: so a script sees all that is known
// of a host. What has no host, a file, is spread by its name.
func partOf(url string) partition {
	host := frontier.HostOf(url)
	if host == "" {
		host = url
	}
	return partOfHost(host)
}

func partOfHost(host string) partition { return partition(xxh3.HashString(host) % partitions) }

// partOfID is the partition that knows in which one a page is.
func partOfID(id dedup.Hash) partition {
	return partition(binary.BigEndian.Uint16(id[14:]) % partitions)
}

// A keyspace names the keys of one store.
type keyspace string

// key is a key of a partition: its hash tag, a letter, and what the letter needs.
func (k keyspace) key(p partition, letter string, rest ...string) string {
	b := make([]byte, 0, 64)
	b = append(b, '{')
	b = append(b, k...)
	b = append(b, ':')
	b = append(b, partNames[p]...)
	b = append(b, '}')
	b = append(b, letter...)
	for _, part := range rest {
		b = append(b, part...)
	}
	return string(b)
}

// global is a key of the store as a whole.
func (k keyspace) global(letter string) string { return "{" + string(k) + "}" + letter }

var partNames = func() (names [partitions]string) {
	for p := range names {
		names[p] = fmt.Sprintf("%03x", p)
	}
	return names
}()

func decimal[T ~uint64 | ~int64 | ~int | ~uint16](n T) string { return strconv.FormatInt(int64(n), 10) }
