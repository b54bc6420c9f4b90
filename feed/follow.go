package feed

import "context"

// A Consumer processes the changes of a store at its own pace.
type Consumer interface {
	// CatchUp processes the changes since the last call.
	CatchUp(ctx context.Context) error
	// Close processes the remaining changes and closes the consumer. Call it before closing the
	// store.
	Close(ctx context.Context) error
}
