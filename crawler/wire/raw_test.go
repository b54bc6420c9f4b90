package wire

import "testing"

// The end of a head is found even if the head arrives in small pieces.
func TestTapPieces(t *testing.T) {
	const answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n"
	for size := 1; size <= len(answer); size++ {
		var t2 tap
		for rest := answer; rest != ""; {
			n := min(size, len(rest))
			if !t2.ended {
				t2.keep([]byte(rest[:n]))
			}
			rest = rest[n:]
		}
		if want := "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"; string(t2.got) != want {
			t.Errorf("in pieces of %d: %q", size, t2.got)
		}
	}
}
