//go:build !(linux || darwin || freebsd)

package disk

// FileLimit returns 0, because the limit is unknown on this system.
func FileLimit() int64 { return 0 }

// MaxFiles returns no limit.
func MaxFiles() Limit { return Limit{} }
