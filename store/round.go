package store

import (
	"context"
	"fmt"
	"time"
)

const roundName = "last round"

// LastRound returns when the last round of visits began, or the zero time if no page has ever been
// revisited.
func LastRound(ctx context.Context, s MetaReader) (at time.Time, err error) {
	text, err := s.Meta(ctx, roundName)
	if err != nil || len(text) == 0 {
		return at, err
	}
	if at, err = time.Parse(time.RFC3339Nano, string(text)); err != nil {
		return at, fmt.Errorf("read the start time of the last round: %w: %v", ErrCorrupt, err)
	}
	return at, nil
}

// SetLastRound records when the last round of visits began.
func SetLastRound(ctx context.Context, s Meta, at time.Time) error {
	return s.SetMeta(ctx, roundName, []byte(at.UTC().Format(time.RFC3339Nano)))
}
