package dedup

import "golang.org/x/sys/cpu"

var vectors = cpu.X86.HasAVX2

//go:noescape
func leastAVX2(x *uint32, n int, flip, factor, low uint32) uint32
