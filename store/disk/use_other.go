//go:build !unix

package disk

import "io/fs"

// allocated returns the length of a file, because this system does not report the space that a file
// occupies.
func allocated(info fs.FileInfo) int64 { return info.Size() }
