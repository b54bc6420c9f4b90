package disk

import (
	"os"
	"strings"
)

// Boot returns an identifier of the current boot of the operating system. It returns "" on systems
// other than Linux.
func Boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
