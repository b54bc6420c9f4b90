//go:build !(linux || darwin || freebsd)

package disk

// FileLimit returns 0: it does not know the limit here.
func FileLimit() int64 { return 0 }
