//go:build !linux

package postgrestest

import "time"

// CPU returns 0, because processor time is measured only on Linux.
func (s *Server) CPU() time.Duration { return 0 }

// killAll kills the server's main process. The other processes then exit on their own.
func (s *Server) killAll() { s.cmd.Process.Kill() }
