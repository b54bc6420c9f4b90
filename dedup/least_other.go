//go:build !amd64

package dedup

const vectors = false

func leastAVX2(*uint32, int, uint32, uint32, uint32) uint32 { panic("no vector code") }
