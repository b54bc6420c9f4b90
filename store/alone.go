package store

import (
	"context"
	"time"
)

// An Alone records why the last run that sent requests to a host stopped before it had fetched all
// URLs of the host.
type Alone struct {
	Why    string    `json:"why"`
	At     time.Time `json:"at"`
	Turned int       `json:"turned,omitempty"` // number of successive runs that left the host alone because most of its pages had changed at once; 0 means another reason; see Why
}

const aloneName = "left alone"

// LeftAlone returns the hosts that a run stopped visiting before all their URLs were fetched, keyed
// by name. It omits hosts that a later run visited.
func LeftAlone(ctx context.Context, s MetaReader) (map[string]Alone, error) {
	return MetaValue[map[string]Alone](ctx, s, aloneName, "suspended hosts")
}

// ChangeAlone calls change with the stored map of hosts that were left alone, and stores the
// modified map; see [ChangeMeta].
func ChangeAlone(ctx context.Context, s Meta, change func(map[string]Alone)) error {
	return ChangeMeta(ctx, s, aloneName, "suspended hosts", func(hosts *map[string]Alone) (*map[string]Alone, error) {
		if hosts == nil {
			hosts = &map[string]Alone{}
		}
		change(*hosts)
		return hosts, nil
	})
}
