//go:build !linux

package postgrestest

import "time"

// CPU returns 0: it is measured on Linux alone.
func (s *Server) CPU() time.Duration { return 0 }

// killAll ends the main process of the server. Its other processes notice, and end by themselves.
func (s *Server) killAll() { s.cmd.Process.Kill() }
