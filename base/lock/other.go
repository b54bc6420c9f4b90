//go:build !(linux || darwin || freebsd)

package lock

const hasLocks = false

// Try takes no lock on this system, and always succeeds. That is safe, because Badger itself
// refuses to open a store that another process has open.
func Try(string) (release func(), ok bool, err error) { return func() {}, true, nil }

// TryShared takes no lock on this system, and always succeeds. So a process that reads a store
// cannot prevent another process from writing to it.
func TryShared(string) (release func(), ok bool, err error) { return func() {}, true, nil }
