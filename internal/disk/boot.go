package disk

import (
	"os"
	"strings"
)

// Boot returns a text that identifies the present run of the operating system: it changes when the
// system is started again. It returns "" on systems other than Linux, which have no such text.
func Boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
