package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	text, err := s.Meta(ctx, aloneName)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return readAlone(text)
}

func readAlone(text []byte) (hosts map[string]Alone, err error) {
	if len(text) == 0 {
		return map[string]Alone{}, nil
	}
	if err := json.Unmarshal(text, &hosts); err != nil {
		return nil, fmt.Errorf("read suspended hosts: %w: %v", ErrCorrupt, err)
	}
	return hosts, nil
}

// ChangeAlone calls change with the stored map of hosts that were left alone, and stores the
// modified map. If another process replaces the stored map in the meantime, ChangeAlone starts
// again with the new map.
func ChangeAlone(ctx context.Context, s Meta, change func(map[string]Alone)) error {
	for {
		old, err := s.Meta(ctx, aloneName)
		if err != nil {
			return err
		}
		hosts, err := readAlone(old)
		if err != nil {
			return err
		}
		change(hosts)
		text, err := json.Marshal(hosts)
		if err == nil {
			err = s.SwapMeta(ctx, aloneName, old, text)
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
	}
}
