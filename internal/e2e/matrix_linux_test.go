package e2e

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// gapTolerance is the precision of arrivedAt: the kernel counts in steps of 4 ms on most machines.
const gapTolerance = 10 * time.Millisecond

// arrivedAt returns the time at which the last bytes on a connection arrived at this machine. The
// kernel records it, so it does not matter how late a busy test reads the bytes.
func arrivedAt(conn *net.TCPConn) time.Time {
	now := time.Now()
	raw, err := conn.SyscallConn()
	if err != nil {
		return now
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			now = now.Add(-time.Duration(info.Last_data_recv) * time.Millisecond)
		}
	})
	return now
}
