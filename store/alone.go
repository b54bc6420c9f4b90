package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// An Alone says why the last run that visited a host left it alone before its URLs were fetched.
type Alone struct {
	Why    string    `json:"why"`
	At     time.Time `json:"at"`
	Turned int       `json:"turned,omitempty"` // runs in a row that ended so because most of its pages turned at once; 0: it was for another reason
}

// aloneName is where a store keeps the hosts that were left alone.
const aloneName = "left alone"

// LeftAlone returns the hosts that were left alone, by name.
func LeftAlone(ctx context.Context, s interface {
	Meta(ctx context.Context, name string) ([]byte, error)
}) (map[string]Alone, error) {
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

// ChangeAlone changes the hosts that were left alone. It calls change again if another process
// changed them meanwhile.
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
