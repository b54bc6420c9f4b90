//go:build !(linux || darwin || freebsd)

package disk

import "math"

// FileLimit returns 0, because the limit is unknown on this system.
func FileLimit() int64 { return 0 }

// MaxFiles returns no limit.
func MaxFiles() Limit { return Limit{} }

// Free returns math.MaxInt64 twice, because the free space is unknown on this system. So a full
// disk is never detected here.
func Free(string) (free, total int64, err error) { return math.MaxInt64, math.MaxInt64, nil }
