package store

import (
	"context"
	"time"
)

const roundName = "last round"

// LastRound returns when the last round of visits began, or the zero time if no page has ever been
// revisited.
func LastRound(ctx context.Context, s MetaReader) (time.Time, error) {
	return MetaValue[time.Time](ctx, s, roundName, "the start time of the last round")
}

// SetLastRound records when the last round of visits began.
func SetLastRound(ctx context.Context, s Meta, at time.Time) error {
	return WriteMeta(ctx, s, roundName, at.UTC())
}
