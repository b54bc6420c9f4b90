package pdf

import "github.com/tetratelabs/wazero/experimental"

// A memory is the memory of a sandbox's instances, which run one after the other. It grows to its
// limit in one step. Each step leaves the old memory to the garbage collector, so growing to 128 MB
// in many small steps took 500 MB.
type memory struct {
	limit int64
	buf   []byte // allocated memory, zeroed past the bytes in use
	used  int
}

// small is a size in bytes that is enough for most files.
const small = 32 << 20

// Allocate implements [experimental.MemoryAllocator].
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements [experimental.LinearMemory].
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(m.limit) {
		return nil
	}
	if size > uint64(len(m.buf)) {
		all := m.limit
		if size <= small {
			all = min(small, m.limit)
		}
		larger := make([]byte, all)
		copy(larger, m.buf[:m.used])
		m.buf = larger
	}
	m.used = max(m.used, int(size))
	return m.buf[:size:size]
}

// Free implements [experimental.LinearMemory]. The code of a stopped instance may still be running,
// so reset frees the memory later.
func (m *memory) Free() {}

// reset prepares the memory for the next instance. No instance may be running.
func (m *memory) reset() {
	if len(m.buf) > small {
		m.buf = nil
	}
	clear(m.buf[:min(m.used, len(m.buf))])
	m.used = 0
}
