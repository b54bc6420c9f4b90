package e2e

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// arrivedAt returns the time at which the last bytes on a connection arrived at this machine. The
// kernel records it, so it does not matter how late a busy test reads the bytes. The kernel is
// asked again if the test got no processor in the meantime.
func arrivedAt(conn *net.TCPConn) (at time.Time) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return time.Now()
	}
	for took := time.Hour; took > 2*time.Millisecond; {
		began := time.Now()
		at = began
		err := raw.Control(func(fd uintptr) {
			if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				at = began.Add(-time.Duration(info.Last_data_recv) * time.Millisecond)
			}
		})
		if took = time.Since(began); err != nil {
			break
		}
	}
	return at
}
